"""What audits of run logs are compared with, each a program of its own that says what it found and what it cost."""
