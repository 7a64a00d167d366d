"""Answers hello with a version that nobody offered."""

from speaking import HELLO, serve

serve(lambda _: None, hello={**HELLO, "protocol": 2})
