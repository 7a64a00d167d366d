"""How cases are drawn, what scopes are, and how directed traces are read: the same for every component."""
