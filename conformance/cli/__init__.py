"""The command line, one small module per verb."""
