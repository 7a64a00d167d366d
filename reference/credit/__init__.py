"""Credit-based flow control: data is sent only where a buffer waits for it.

`credit_receiver` grants credit for the `buffers` of a gate, and `credit_sender` spends it. In `credit_connection`
several `readers` share the sending end of a connection, in `receiving_connection` several channels its receiving end.
`credit_loop` joins sender and receiver: nothing is lost, and nothing waits for ever. `backpressure` stops producers.
"""
