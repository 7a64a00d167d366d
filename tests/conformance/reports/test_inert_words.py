"""Words of an engine are inert wherever they are told: on the terminal, in Markdown, JSON, JUnit and pages."""

import json
import re
import sys
import textwrap
from xml.etree import ElementTree as ET

import pytest
from markdown_it import MarkdownIt

from tidegate.conformance.cli.main import main

WORD = "</script><img src=x onerror=alert(1)>|[a](http://b)`*_@c ```\x1b[2J\x9b\u202e\x07\r\n# h"
ENGINE = """
    import json, sys
    WORD = {word!r}
    for line in sys.stdin:
        request = json.loads(line)
        reply = {{"id": request["id"]}}
        if request["op"] == "hello":
            implementation = dict(name=WORD, version=WORD, language=WORD)
            reply["ok"] = dict(protocol=1, implementation=implementation, components=dict(valve={{}}, mailbox={{}}))
        elif request["op"] == "replay" and request["component"] == "valve":
            observation = {{"type": "watermark", "timestamp": "7", WORD: WORD}}
            reply["ok"] = dict(steps=[[observation] for _ in request["events"]])
        elif request["op"] == "replay":
            sys.stderr.write(WORD)
            sys.stderr.flush()
            reply["error"] = dict(kind="internal", message=WORD)
        print(json.dumps(reply), flush=True)
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    path = tmp_path_factory.mktemp("engines") / (re.sub("[/\r\n]", "", WORD) + ".py")
    path.write_text(textwrap.dedent(ENGINE).format(word=WORD))
    return path


def told(engine, *options):
    assert main(["run", "--engine", f"exec:{sys.executable} '{engine}'", "--stage", "directed", *options]) == 1


def inert(text):
    """Nothing repaints a terminal, turns text around, or is not text."""
    return all(c.isprintable() or c == "\n" for c in text)


def plain(markdown):
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown)
    return set(re.findall(r"<([a-z0-9]+)", page)) <= PLAIN and page.count("<h1") == 1


SHOWN = {
    "pretty": lambda said: not re.search(r"(?m)^# h", said),
    "markdown": plain,
    "json": lambda said: all(map(inert, strings(json.loads(said)))),
    "summary.md": plain,
    "junit.xml": lambda said: all(inert(text) for text in ET.fromstring(said).itertext()),  # noqa: S314 - ours
    "report.jsonl": lambda said: all(map(inert, strings([json.loads(line) for line in said.splitlines()]))),
    "index.html": lambda said: "<img" not in re.sub(r"(?s)<script[^>]*>.*?</script>", "", said),
}
#: What a summary is made of, and nothing that leads elsewhere or loads something.
PLAIN = {"h1", "h2", "ul", "li", "p", "table", "thead", "tbody", "tr", "th", "td", "pre", "code"}


def strings(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for one in value.items() if isinstance(value, dict) else value:
            yield from strings(list(one) if isinstance(one, tuple) else one)


@pytest.fixture(scope="module")
def places(engine, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports") / "report"
    told(engine, "--report", str(folder))
    return folder


@pytest.mark.parametrize("place", SHOWN)
def test_words_of_an_engine_are_inert(place, engine, places, capsys):
    if "." in place:
        said = (places / place).read_text()
    else:
        told(engine, "--format", place)
        said = capsys.readouterr().out
    assert "onerror" in said
    assert inert(said)
    assert SHOWN[place](said)
