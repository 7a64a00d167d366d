"""The command line, one small module a verb."""
