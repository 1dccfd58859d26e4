"""How fast hookctl is, and how far it walks."""
