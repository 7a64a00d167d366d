"""Engines by components from any number of reports: a page, a document, and a badge per engine."""
