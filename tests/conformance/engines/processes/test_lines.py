"""Lines out of streams, and lines as replies."""

import pytest

from tidegate.conformance.engines import messages
from tidegate.conformance.engines.base import Broken, Claim, Refused, Steps
from tidegate.conformance.engines.errors import BadHelloError, VersionMismatchError
from tidegate.conformance.engines.processes.lines import LineBuffer, Tail
from tidegate.conformance.engines.text import printable, quoted


def taken(buffer):
    return list(iter(buffer.take, None))


@pytest.mark.parametrize("size", [1, 2, 3, 5, 100])
def test_lines_do_not_depend_on_how_they_are_cut(size):
    stream = b"one\ntwo\n\nthree\nfour"
    buffer = LineBuffer(10)
    for start in range(0, len(stream), size):
        buffer.feed(stream[start : start + size])
    assert taken(buffer) == [b"one", b"two", b"", b"three"]
    assert buffer.half_line.startswith(b"f")
    assert not buffer.overflowed


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_long_line_overflows_after_those_before_it(size):
    stream = b"one\n" + b"x" * 11 + b"\ntwo\n"
    buffer = LineBuffer(10)
    for start in range(0, len(stream), size):
        buffer.feed(stream[start : start + size])
    assert taken(buffer) == [b"one"]
    assert buffer.overflowed


def test_the_tail_keeps_the_last_lines_and_cuts_them():
    tail = Tail(lines=3, width=10)
    tail.feed(b"".join(b"line %d\n" % number for number in range(100)))
    tail.feed(b"y" * 1_000_000)
    tail.feed(b"z" * 1_000_000)
    assert tail.lines()[:2] == ("line 98", "line 99")
    assert tail.lines()[2].startswith("yyyyyyyyyy…")


def test_the_tail_is_printable():
    tail = Tail()
    tail.feed("\x1b[31mred\r\nunder\u202etaker\n".encode() + b"\xff\xfe\n")
    assert tail.lines() == (r"\x1b[31mred", r"under\u202etaker", "��")


def test_words_are_made_printable_and_short():
    assert printable("plain ünïcode → fine") == "plain ünïcode → fine"
    assert printable("a\tb\0c\ud800") == r"a\tb\x00c\ud800"
    assert printable("x" * 20, 5) == "xxxxx… (15 more characters)"
    assert quoted(b"\xffab") == r"'\\xffab'" or quoted(b"\xffab") == r"'\xffab'"


def reply(text, events=1):
    return messages.read_reply(messages.Parser().parse(text.encode()), events)


def test_a_good_reply():
    assert reply('{"id":2,"ok":{"steps":[[{"type":"x","n":[1,2],"b":true}]]}}') == Steps(
        [[{"type": "x", "n": [1, 2], "b": True}]]
    )
    assert reply('{"id":2,"ok":{"steps":[[{"type":"x:y"}]]}}') == Steps([[{"type": "x:y"}]])
    assert reply('{"id":2,"error":{"kind":"internal","message":"\\u001b[0m"}}') == Refused("internal", r"\x1b[0m")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"id":2}', "neither ok nor error"),
        ('{"id":2,"ok":{"steps":[[]]},"error":{}}', "both ok and error"),
        ('{"id":2,"ok":[]}', 'must be an object that holds "steps"'),
        ('{"id":2,"ok":{"steps":{}}}', "steps must be a list"),
        ('{"id":2,"ok":{"steps":[]}}', "0 steps, the case has 1 events"),
        ('{"id":2,"ok":{"steps":[{}]}}', "step 1 must be a list"),
        ('{"id":2,"ok":{"steps":[["x"]]}}', "not an object"),
        ('{"id":2,"ok":{"steps":[[{}]]}}', 'without a "type"'),
        ('{"id":2,"ok":{"steps":[[{"type":1}]]}}', 'without a "type"'),
        ('{"id":2,"ok":{"steps":[[{"type":"x","n":Infinity}]]}}', "holds Infinity"),
        ('{"id":2,"ok":{"steps":[[{"type":"x","n":2.0}]]}}', "holds 2.0"),
        ('{"id":2,"ok":{"steps":[[{"type":"x","n":1,"n" :1}]]}}', "holds the key 'n' more than once"),
        ('{"id":2,"ok":{"steps":[[{"type":"x","n":[{"m":1,"m":2}]}]]}}', "holds the key 'm' more than once"),
        ('{"id":2,"ok":{"steps":[[]]},"ok":{"steps":[[]]}}', "holds the key 'ok' more than once"),
        ('{"id":2,"error":"no"}', "error must be an object"),
        ('{"id":2,"error":{"kind":"tired","message":""}}', "error.kind must be one of"),
        ('{"id":2,"error":{"kind":[],"message":""}}', "error.kind must be one of"),
        ('{"id":2,"error":{"kind":"internal"}}', "error.message must be a string"),
    ],
)
def test_a_reply_of_the_wrong_shape(text, words):
    found = reply(text)
    assert isinstance(found, Broken)
    assert words in found.message


@pytest.mark.parametrize(
    "line",
    [b"", b" ", b"null", b"[]", b"{", b"{}{}", b'{"id":1', b"\xff", b"\xef\xbb\xbf{}", b"[" * 100_000, b"9" * 5000],
)
def test_a_line_that_nobody_can_ascribe(line):
    with pytest.raises(messages.MalformedLineError):
        messages.Parser().parse(line)


def test_a_line_of_too_many_values_is_not_even_parsed():
    with pytest.raises(messages.MalformedLineError, match="values"):
        messages.Parser().parse(b'{"id":1,"x":[' + b"0," * messages.VALUES_LIMIT + b"0]}")


def test_requests_are_ascii_and_have_no_nan():
    assert messages.encode({"id": 1, "case": "ü😀\n"}) == b'{"id":1,"case":"\\u00fc\\ud83d\\ude00\\n"}\n'
    with pytest.raises(ValueError):
        messages.encode({"id": float("nan")})


GOOD = {"protocol": 1, "implementation": {"name": "n", "version": "1", "language": "l"}, "components": {"valve": {}}}


def test_a_good_hello():
    claims = messages.describe(GOOD | {"components": {"valve": {}, "partitioner": {"kinds": ["hash"]}}}, 8).components
    assert claims == {"valve": Claim(), "partitioner": Claim(kinds=frozenset({"hash"}))}


@pytest.mark.parametrize(
    "changes",
    [
        {"protocol": "1"},
        {"protocol": True},
        {"implementation": "mine"},
        {"implementation": {"name": "n", "version": 1, "language": "l"}},
        {"components": []},
        {"components": {"valve": None}},
        {"components": {"valve": {"kinds": "hash"}}},
        {"components": {"valve": {"kinds": None}}},
        {"components": {"valve": {"semantics": [1]}}},
    ],
)
def test_a_hello_of_the_wrong_shape(changes):
    with pytest.raises(BadHelloError):
        messages.describe(GOOD | changes, 8)


def test_another_version():
    with pytest.raises(VersionMismatchError, match="speaks protocol 2"):
        messages.describe(GOOD | {"protocol": 2}, 8)


def test_an_answer_of_no_events():
    assert messages.read_answer({"ok": {"steps": []}}, 0) == Steps([])
