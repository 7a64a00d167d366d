"""The server of the playground: this machine alone, and nothing but its own files."""

import http.client
import json
import signal
import socket
import struct
from urllib.parse import urlsplit

import pytest

from tests.processes import PATIENCE, launch, tidegate_command
from tidegate.conformance.cli.main import main, make_parser
from tidegate.conformance.cli.play import listen
from tidegate.conformance.web.serving import MAX_QUESTION_BYTES, PORT, Playground

ASK = {"Content-Type": "application/json"}


@pytest.fixture
def request_it(playground):
    place = urlsplit(playground).netloc

    def request(method, path, body=None, **headers):
        connection = http.client.HTTPConnection(place, timeout=10)
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, path, body, given)
        reply = connection.getresponse()
        return reply, reply.read()

    return request


def test_pages_may_load_nothing_from_elsewhere(request_it):
    reply, body = request_it("GET", "/")
    assert reply.status == 200
    assert b"<title>Tidegate playground" in body
    policy = reply.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_the_icon_is_found_where_browsers_look_for_it(request_it):
    """They ask by themselves where a page names none, and complain of an answer that is an error."""
    reply, body = request_it("GET", "/favicon.ico")
    assert (reply.status, reply.headers["Content-Type"]) == (200, "image/svg+xml; charset=utf-8")
    assert body == request_it("GET", "/icon.svg")[1]


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "/../playing.py", {}),
        ("GET", "/..%2fplaying.py", {}),
        ("GET", "/nothing.js", {}),
        ("GET", "/", {"Host": "evil.example"}),
        ("POST", "/ask", {**ASK, "Host": "evil.example"}),
        ("POST", "/ask", {**ASK, "Origin": "https://evil.example"}),
        ("POST", "/ask", {"Content-Type": "text/plain"}),
        ("POST", "/other", ASK),
    ],
)
def test_what_is_not_ours_is_not_answered(request_it, method, path, headers):
    reply, body = request_it(method, path, b'{"ask":"components"}', **headers)
    assert reply.status == 404
    assert b"VALVE" not in body


def test_a_question_that_is_no_json_is_answered_by_an_error(request_it):
    for body in (b"{", b"\xff", b"[" * 100_000):
        reply, answered = request_it("POST", "/ask", body, **ASK)
        assert reply.status == 200
        assert "not JSON" in json.loads(answered)["error"]["message"]


def test_a_question_without_end_is_not_read(request_it):
    for length in (str(MAX_QUESTION_BYTES + 1), "9" * 5000, "-1", "\xb2", "1_0", ""):
        reply, _body = request_it("POST", "/ask", None, **ASK, Content_Length=length)
        assert reply.status == 413


def test_who_asks_and_leaves_is_no_trouble(playground, capfd):
    place = urlsplit(playground)
    for asked in (
        b"GET http://[x]/ HTTP/1.1\r\n\r\n",
        b"\xff\0\r\n\r\n",
        b"POST /ask HTTP/1.1\r\nContent-Length: 9\r\n\r\n{",
    ):
        with socket.create_connection((place.hostname, place.port), timeout=10) as connection:
            connection.sendall(asked.replace(b"\r\n\r\n", f"\r\nHost: {place.netloc}\r\n\r\n".encode(), 1))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    http.client.HTTPConnection(place.netloc, timeout=10).request("GET", "/")
    assert "Traceback" not in "".join(capfd.readouterr())


def test_the_playground_is_where_reports_look_for_it_unless_something_else_is():
    address = f"http://127.0.0.1:{PORT}/"
    with listen(None) as first, listen(None) as second:
        assert second.address not in (first.address, address)
    assert make_parser().parse_args(["play"]).port is None


def read_changes(page, step):
    """What the page marks as changed by a step."""
    page.locator(f"[data-step='{step}']").click()
    page.locator(".stepview h2", has_text=f"Step {step}:").wait_for()
    rows = [row.locator("th, td").all_text_contents() for row in page.locator(".state tr.changed").all()]
    return ["{}: {} → {}".format(*row) for row in rows]


def test_the_command_prints_an_address_and_ends_when_told(open_page, capsys):
    """Between the two it shows what `tidegate explain` says, step by step."""
    with launch(tidegate_command("play", "valve", "--trace", "0w1 1i", "--no-open")) as process:
        said = process.stdout.readline()
        try:
            with open_page(said.split()[2]) as page:
                seen = [read_changes(page, step) for step in (1, 2)]
        finally:
            process.send_signal(signal.SIGINT)
        process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert said.startswith("playing at http://127.0.0.1:")
    assert "/#valve?config=%7B%22channels%22%3A3" in said
    assert "trace=0w1%201i" in said
    assert main(["explain", "valve", "--config", '{"channels":3}', "--trace", "0w1 1i", "--format", "json"]) == 0
    assert [step["changes"] for step in json.loads(capsys.readouterr().out)] == seen


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["valve", "--channels", "4", "--timestamps", "3"], "#valve?config=%7B%22channels%22%3A4"),
        (["deserializer"], "#deserializer?config="),
        (["gate"], "#gate?config="),
    ],
)
def test_a_scope_is_explored_in_the_browser(monkeypatch, capsys, arguments, expected):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(Playground, "serve_forever", lambda _playground: None)
    assert main(["explore", *arguments, "--open"]) == 0
    assert f"playing at {opened[0]}" in capsys.readouterr().out
    assert expected in opened[0]
    assert opened[0].endswith("explore=3" if "3" in arguments else "explore=2")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["valv"], "unknown component"),
        (["valve", "--trace", "0x"], "its forms are"),
        (["valve", "--config", "{"], "--config"),
        (["valve", "--config", "{}"], "channels is missing"),
        (["--trace", "0i"], "need a COMPONENT"),
    ],
)
def test_wrong_usage_is_said_before_anything_is_opened(capsys, arguments, expected):
    with pytest.raises(SystemExit) as ended:
        main(["play", *arguments, "--no-open"])
    assert ended.value.code == 64
    assert expected in capsys.readouterr().err
