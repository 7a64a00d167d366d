"""Every state of a small scope, and whether what is claimed holds in all of them."""
