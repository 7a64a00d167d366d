"""Cases and the files that hold them: events in, observations out."""
