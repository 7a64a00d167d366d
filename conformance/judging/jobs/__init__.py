"""Whole jobs of an engine, judged: its run log by the invariants, and every subtask by the specification."""
