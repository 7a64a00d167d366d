"""Properties that must always hold, and the cases that try to break them."""
