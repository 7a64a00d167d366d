"""Many channels read as one: in turns, with priorities, and several gates together."""
