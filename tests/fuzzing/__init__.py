"""Everything that is read from outside, fed with what nobody should write: `make fuzz SECONDS=600`."""
