"""Prints a banner before it answers hello."""

from speaking import serve, write

write("Welcome to the engine!\n")
serve(lambda _: None)
