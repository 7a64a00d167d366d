"""Checks implementations against the specification."""
