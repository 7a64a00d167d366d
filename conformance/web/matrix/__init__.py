"""Engines and components from any number of reports: a page to look at, a document, and a badge for each engine."""
