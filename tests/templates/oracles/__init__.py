"""The five published systems as small state machines, written from their description and not from the hook."""
