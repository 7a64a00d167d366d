"""The specification: each component of the exchange as a small pure state machine that names its rules."""
