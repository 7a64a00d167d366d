"""Suites that are complete on a small scope: finite-state conformance testing."""
