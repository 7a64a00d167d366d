"""Event time: one watermark and one status out of many, and how they pass through a task."""
