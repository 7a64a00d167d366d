"""Checkpoint barriers: where a checkpoint cuts the channels of a task, and what that costs the channels."""
