"""The judge: cases run on an engine, verdicts, shrinking, coverage, and what may be said in the end."""
