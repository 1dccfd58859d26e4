"""The Ansible collection on one machine that plays many: each host of the inventory is a home folder of its own."""
