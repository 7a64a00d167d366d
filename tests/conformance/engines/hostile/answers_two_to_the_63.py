"""Answers the bad case with 2^63, as a string and as a number: well-formed, and wrong."""

from speaking import answer, serve

STEPS = [[{"type": "watermark", "timestamp": "9223372036854775808"}], [{"type": "watermark", "timestamp": 2**63}], []]

serve(lambda request: answer(request, ok={"steps": STEPS}))
