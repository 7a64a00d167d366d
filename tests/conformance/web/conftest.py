"""A real Chromium, a playground to look at, and pages that must not complain or reach out."""

import os
import shutil
import threading
from contextlib import contextmanager
from importlib.resources import files

import pytest
from playwright.sync_api import sync_playwright

from tests.paths import ROOT
from tests.processes import PATIENCE
from tidegate.conformance.web.serving import Playground

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
#: On a phone by night, and on a wide screen by day. Pages share their style: one of these is enough for most of them.
LOOKS = [(320, "dark"), pytest.param(1600, "light", marks=pytest.mark.long)]
#: Whether a text can become a script; asked behind the call itself, which is free to.
EVALUATES = """() => new Promise((done) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => { try { done(new Function("return true")()); } catch { done(false); } };
  port2.postMessage(null);
})"""
#: Pictures of the pages, to be looked at.
SHOTS = ROOT / "build" / "shots"


@contextmanager
def launched():
    """A browser with an empty profile, which talks to nobody by itself."""
    path = os.environ.get("TIDEGATE_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        pytest.skip("no Chromium: `make browser` installs it or says how; TIDEGATE_CHROMIUM names one elsewhere")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=[*FLAGS])
        yield browser
        browser.close()


@contextmanager
def served():
    """The address of a playground."""
    with Playground() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server.address
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def browser():
    with launched() as browser:
        yield browser


@pytest.fixture(scope="session")
def playground():
    with served() as address:
        yield address


@pytest.fixture
def open_page(browser):
    """Opens pages. At the end, none of them may have complained, reached outside its origin, or let a text run."""

    @contextmanager
    def opened(address, width=1200, height=900, scheme="light", **more):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce", **more
        )
        context.set_default_timeout(1000 * PATIENCE)
        page = context.new_page()
        complaints, requests = [], []
        page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        yield page
        said = [*complaints]
        evaluates = page.evaluate(EVALUATES)
        context.close()
        assert said == []
        assert not evaluates, "its policy lets texts become scripts"
        origin = "/".join(address.split("/")[:3])
        assert [url for url in requests if not url.startswith((origin, "data:"))] == []

    return opened


def fits(page):
    """Whether nothing makes the page wider than the window."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def serious_barriers(page):
    """What axe-core finds that keeps people from using the page."""
    page.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    found = page.evaluate("axe.run().then((found) => found.violations)")
    return [
        (one["id"], [node["html"][:120] for node in one["nodes"][:3]])
        for one in found
        if one["impact"] in ("serious", "critical")
    ]


def shoot(page, name):
    SHOTS.mkdir(parents=True, exist_ok=True)
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=SHOTS / f"{name}.png", full_page=True)
