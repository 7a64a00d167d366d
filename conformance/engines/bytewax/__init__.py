"""Bytewax: jobs of keyed counts in processes of their own, killed and restarted from their snapshots."""
