"""Cases and their files: events in, observations out."""
