"""Judges whole jobs of an engine: the run log by the invariants, and every subtask by the specification."""
