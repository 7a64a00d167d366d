"""An executable specification of how a streaming dataflow engine moves data between tasks, with a conformance suite."""

__version__ = "0.1.0"
