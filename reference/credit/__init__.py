"""Credit-based flow control: data is sent only where a buffer waits for it.

`receiver` grants credit, `sender` spends it, `connection` shares one line between several senders, and `loop` closes
the circle and shows that nothing is lost and nobody waits for ever.
"""
