"""The short notation of traces: one module for each subject."""
