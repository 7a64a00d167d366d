"""Holds implementations to the specification."""
