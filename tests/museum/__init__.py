"""The museum: what other installers of hooks have done to their users, and that hookctl does not."""
