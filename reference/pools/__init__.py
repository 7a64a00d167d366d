"""Buffer pools: who gets how much of the memory of the network."""
