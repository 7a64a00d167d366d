"""The playground server: static pages, and one address for questions to the specification.

It listens on 127.0.0.1 only. Pages from elsewhere can neither ask nor read: a request must name this host and come
from this origin, and no other page may frame or load an answer.
"""

import json
import re
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any

from tidegate.conformance.web.playing import answer

HOST = "127.0.0.1"
#: The port where reports look for the playground.
PORT = 7728
MAX_QUESTION_BYTES = 2**20
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
#: The policy inside a page: it cannot restrict frames.
PAGE_POLICY = POLICY.partition("; frame-ancestors")[0]
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}
STATIC = files("tidegate.conformance.web") / "static"
#: Files that browsers request by other names: the icon, if a page names none.
NAMES = {"/": "play.html", "/favicon.ico": "icon.svg"}


class Handler(BaseHTTPRequestHandler):
    server: "Playground"
    #: Seconds until a request must be complete.
    timeout = 20
    #: An answer is sent at once: a second part would wait for the acknowledgement of the first.
    wbufsize = -1

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        name = NAMES.get(path, path.removeprefix("/"))
        kind = TYPES.get(name.rpartition(".")[2])
        if not self._is_ours() or kind is None or name not in {entry.name for entry in STATIC.iterdir()}:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", b"not found\n")
            return
        self._send(HTTPStatus.OK, kind, (STATIC / name).read_bytes())

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not self._is_ours() or self.path != "/ask" or self.headers.get_content_type() != "application/json":
            self._send(HTTPStatus.NOT_FOUND, "text/plain", b"post questions as JSON to /ask\n")
        elif not re.fullmatch("[0-9]{1,9}", length) or int(length) > MAX_QUESTION_BYTES:
            self.close_connection = True
            self._send(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "text/plain", b"a question may have at most one megabyte\n")
        else:
            self._send(HTTPStatus.OK, "application/json", self._answer(self.rfile.read(int(length))))

    def _answer(self, body: bytes) -> bytes:
        try:
            answered = self.server.answer(json.loads(body))
        except (ValueError, RecursionError) as error:
            answered = {"error": {"message": f"the question is not JSON: {error}"}}
        return json.dumps(answered).encode()

    def _is_ours(self) -> bool:
        """Whether the request is for this address, and not from a page of another."""
        own = f"{HOST}:{self.server.server_port}"
        return self.headers.get("Host") == own and self.headers.get("Origin", f"http://{own}") == f"http://{own}"

    def _send(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is given
        """No log: the user looks at the page."""


class Playground(ThreadingHTTPServer):
    """Serves until it is shut down; `port` 0 takes any free port."""

    daemon_threads = True

    def __init__(self, port: int = 0, answer: Callable[[Any], dict[str, Any]] = answer) -> None:
        super().__init__((HOST, port), Handler)
        self.answer = answer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore clients that disconnect before the answer."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.server_port}/"
