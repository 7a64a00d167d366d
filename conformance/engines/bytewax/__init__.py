"""Bytewax: jobs of keyed counts in processes of their own, killed and started again from what they have saved."""
