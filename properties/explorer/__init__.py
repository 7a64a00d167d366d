"""Exploration of every state of a small scope, with a check of all claims."""
