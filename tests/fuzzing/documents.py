"""Documents that were right once: keys dropped and doubled, values of any kind, lines lost, bytes that are no text."""

import json

from hypothesis import strategies as st

#: What stands in the place of a value, as it is written.
NASTY = (
    *("null", "true", "0", "-1", "-0", "2147483648", "9" * 25, "1" * 5000, "0.5", "1.0", "1e999", "NaN", "-Infinity"),
    *('""', '"5"', '"-9223372036854775809"', '"' + "x" * 9999 + '"', r'"\ud800"', r'"\u0000\u001b[31m\u202e"', r'"\q"'),
    *("[]", "{}", "[[]]", '{"type":[]}', "[" * 80 + "]" * 80, "[" * 9999 + "]" * 9999, '{"a":' * 900 + "1" + "}" * 900),
    *('{"a":1,"a":2}', "", "]", "\u202e"),
)
#: What is put between the bytes of a text.
BYTES = (
    *(
        b"\x00",
        b"\xff",
        b"\xc0\xaf",
        b"\xed\xa0\x80",
        b"\x1b[2J",
        b"\xe2\x80\xae",
        b"\n",
        b"\r",
        b'"',
        b"\\",
        b"\\q",
        b"{",
    ),
    *(text.encode() for text in NASTY),
)
MARK = "<a value>"


def places(value, at=()):
    """The path of every value in a document."""
    yield at
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*at, key))


@st.composite
def changed_values(draw, line):
    """The line with one value replaced, removed, or given twice under the same key."""
    document = json.loads(line)
    *path, last = draw(st.sampled_from([at for at in places(document) if at] or [("",)]))
    if last == "":
        return draw(st.sampled_from(NASTY)).encode("utf-8", "surrogatepass")
    holder = document
    for key in path:
        holder = holder[key]
    before, nasty = json.dumps(holder[last]), draw(st.sampled_from(NASTY))
    how = draw(st.sampled_from(("replace", "remove", "double")))
    if how == "remove":
        del holder[last]
    else:
        holder[last] = MARK
    if how == "double":
        nasty = f"{before},{json.dumps(last)}:{nasty}" if isinstance(holder, dict) else f"{before},{nasty}"
    return json.dumps(document, ensure_ascii=False).replace(json.dumps(MARK), nasty).encode("utf-8", "surrogatepass")


@st.composite
def changed_bytes(draw, text):
    """The text with some bytes cut out, put in, or given twice."""
    begin = draw(st.integers(0, len(text)))
    end = min(len(text), begin + draw(st.integers(0, 40)))
    how = draw(st.sampled_from(("put in", "cut out", "double", "end here")))
    between = {"put in": draw(st.sampled_from(BYTES)), "cut out": b"", "double": text[begin:end] * 2, "end here": b""}
    return text[:begin] + between[how] + (b"" if how == "end here" else text[begin if how == "put in" else end :])


@st.composite
def documents(draw, seeds):
    """One of the seeds, with a few changes, or bytes that never were a document."""
    if draw(st.integers(0, 9)) == 9:
        return draw(st.binary(max_size=200))
    lines = list(draw(st.sampled_from(seeds)))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(lines) - 1))
        how = draw(st.sampled_from(("values", "bytes", "double", "lose")))
        if how == "double":
            lines.insert(at, lines[at])
        elif how == "lose" and len(lines) > 1:
            del lines[at]
        elif how == "values" and is_json(lines[at]):
            lines[at] = draw(changed_values(lines[at]))
        else:
            lines[at] = draw(changed_bytes(lines[at]))
    return b"\n".join(lines) + draw(st.sampled_from((b"\n", b"")))


def is_json(line):
    try:
        json.dumps(json.loads(line))
    except (ValueError, RecursionError):
        return False
    return True
