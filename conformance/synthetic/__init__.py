"""Synthetic run logs: valid runs of any size, with known faults planted, and a list of them."""
