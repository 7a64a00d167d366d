"""The judge: runs cases on an engine, gives verdicts, shrinks failures, measures coverage, and states what holds."""
