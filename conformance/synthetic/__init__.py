"""Synthetic run logs: valid runs of any size with planted faults, and a list of the faults."""
