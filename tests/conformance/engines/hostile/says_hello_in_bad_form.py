"""Declares its components as a list."""

from speaking import HELLO, serve

serve(lambda _: None, hello={**HELLO, "components": ["valve"]})
