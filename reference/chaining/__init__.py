"""How a program becomes tasks: which operators share one, what is left between them, and how a chain lives."""
