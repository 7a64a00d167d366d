"""Reads hello and never answers."""

import time

time.sleep(600)
