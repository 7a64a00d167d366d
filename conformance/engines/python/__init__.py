"""Engines written in Python: an object that describes itself and replays cases, here or in a process of its own."""
