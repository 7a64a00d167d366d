"""Which channel an element is written to, and which channels there are."""
