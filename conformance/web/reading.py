"""The documents as pages of the site, a page of all rules with their references, and a search index.

Addresses are relative and pages fetch nothing, so that they work on any server, under any path, and from disk.
"""

import html
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from urllib.parse import quote

import attrs

from tidegate.conformance.documents.backlinks import Place, code_places, find_places
from tidegate.conformance.documents.explaining import describe_judging, describe_source, statements_of
from tidegate.conformance.documents.pages import reasons_of
from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.engines.museum.catalog import all_mutants
from tidegate.conformance.web.markdown import Section, link_rules, relative, render
from tidegate.conformance.web.one_file import STATIC, as_data, bundle, make_head
from tidegate.conformance.web.playing import Story, of_mutant, stories
from tidegate.conformance.web.serving import PAGE_POLICY
from tidegate.reference.components import BY_FLOOR, COMPONENTS, PATH, Floor
from tidegate.reference.rules import Rule, all_rules

RULES = "rules.html"
PLAYGROUND = "play.html"
#: Pages with another address than their document.
ADDRESSES = {"README.md": "index.html", "docs/semantics/rules.md": RULES}
#: The menu; documents that are not in it come last.
MENU = {
    "Begin": ("README", "docs/tutorial", "docs/writing-an-engine", "docs/protocol", "examples/README"),
    "Use": ("docs/library", "docs/hypothesis", "docs/ci", "docs/reports", "docs/campaigns", "docs/run-logs"),
    "Engines": ("docs/flink", "docs/flink-versions", "docs/flink-tests", "docs/spark", "docs/engines"),
    "Findings": ("docs/findings/index",),
    "Project": ("CONTRIBUTING", "docs/decisions", "docs/seeds", "docs/benchmarks", "docs/museum", "docs/mutation"),
}
#: Files that a browser shows unchanged.
SHOWN = (".png", ".svg", ".json")
CLASS = re.compile(r"\bFLINK-\d+\b|(?<![.\w])(?:[A-Z][a-z]+){2,}\b")


@attrs.frozen
class Page:
    path: str
    title: str
    body: str
    sections: tuple[Section, ...] = ()


@attrs.define
class Library:
    """The documents of a checkout, and the files that they link to."""

    root: Path
    documents: dict[str, str]
    needed: set[str] = attrs.field(factory=set)

    def resolve(self, document: str, address: str) -> str:
        """The address of a document's link on its page."""
        path, mark, anchor = address.partition("#")
        if "://" in address or not path:
            return address
        file = posixpath.normpath(posixpath.join(posixpath.dirname(document), path))
        return relative(self.place(document, file) + mark + anchor, self.documents[document])

    def place(self, document: str, file: str) -> str:
        if file in self.documents:
            return self.documents[file]
        if not (self.root / file).is_file():
            raise CannotStartError(f"{document} links to {file}, which does not exist")
        self.needed.add(file)
        return file if file.endswith(SHOWN) else source_page_of(file)

    def source(self, place: Place) -> str:
        """The address of a line of a file on the site."""
        self.needed.add(place.path)
        return f"{source_page_of(place.path)}#L{place.line}"


def source_page_of(file: str) -> str:
    return f"source/{file}.html"


def write_reading(root: Path, out: Path) -> None:
    """Write every document, the rules, and the linked files as pages."""
    library = open_library(root)
    pages = [make_document(library, name) for name in library.documents if library.documents[name] != RULES]
    pages.append(make_rules(library))
    shown = {file for file in library.needed if file.endswith(SHOWN)}
    sources = [make_source(root, file) for file in sorted(library.needed - shown)]
    menu = make_menu(pages)
    for page in [*pages, *sources]:
        path = out / page.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(frame(page, menu), encoding="utf-8")
    for file in shown:
        (out / file).parent.mkdir(parents=True, exist_ok=True)
        (out / file).write_bytes((root / file).read_bytes())
    (out / "read.js").write_text(bundle("read.js"), encoding="utf-8")
    (out / "search.js").write_text(f"globalThis.SECTIONS = {as_data(list(index(pages)))};\n", encoding="utf-8")
    for name in ("style.css", "read.css", "icon.svg"):
        (out / name).write_bytes((STATIC / name).read_bytes())


def open_library(root: Path) -> Library:
    files = [*(root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"))]
    files += sorted((root / "docs").rglob("*.md"))
    missing = next((file for file in files if not file.is_file()), None)
    if missing is not None or not (root / "docs").is_dir():
        raise CannotStartError("the site needs the documents of a checkout", "run this in the root of one: make site")
    names = [file.relative_to(root).as_posix() for file in files]
    return Library(root, {name: ADDRESSES.get(name, f"{name.removesuffix('.md')}.html") for name in names})


def make_document(library: Library, name: str) -> Page:
    path = library.documents[name]
    text = (library.root / name).read_text(encoding="utf-8")
    body = render(text, partial(library.resolve, name), relative(RULES, path), journey(path))
    title = next((one.title for one in body.sections), name)
    component = posixpath.basename(path).removesuffix(".html")
    play = path.startswith("docs/semantics/") and component in COMPONENTS
    schema = relative(f"schemas/{component}.json", path)
    ways = f'<a href="{relative(PLAYGROUND, path)}#{component}">Play it</a> <a href="{schema}">JSON Schema</a>'
    link = f'<p class="toplay">{ways}</p>\n' if play else ""
    return Page(path, title, link + body.html, body.sections)


def journey(page: str) -> str:
    """The components in the order in which a record travels, instead of a diagram."""
    subjects = dict.fromkeys(place.subject for place in PATH)
    rows = [
        f"<li><b>{html.escape(subject)}</b> "
        + " ".join(
            f'<a href="{relative(f"docs/semantics/{place.name}.html", page)}" title="{html.escape(place.sentence)}">'
            f"{html.escape(place.name.replace('_', ' '))}</a>"
            for place in PATH
            if place.subject == subject
        )
        + "</li>"
        for subject in subjects
    ]
    return f'<ol class="journey">{"".join(rows)}</ol>\n'


# --- rules --------------------------------------------------------------------------------------------------------


def make_rules(library: Library) -> Page:
    """All rules, each with a stable anchor and all its references."""
    tests = find_places(library.root / "tests", "tests", all_rules())
    parts = ["<h1>All rules</h1>", f"<p>{len(all_rules())} rules. Their ids never change their meaning.</p>"]
    sections = [Section(1, "All rules", "")]
    prefixes = dict.fromkeys(rule.prefix for rule in all_rules().values())
    for prefix in prefixes:
        parts.append(f'<h2 id="{prefix}">{prefix}</h2>')
        sections.append(Section(2, prefix, prefix))
        for rule in all_rules().values():
            if rule.prefix == prefix:
                parts.append(rule_article(rule, list(behind(library, rule, tests.get(rule.id, ())))))
                sections.append(Section(3, rule.id, rule.id, f"{rule.text} {rule.intent} {rule.source}"))
    return Page(RULES, "All rules", "\n".join(parts), tuple(sections))


def rule_article(rule: Rule, links: list[tuple[str, list[str]]]) -> str:
    pages = " ".join(
        f'<a href="docs/semantics/{name}.html">{name.replace("_", " ")}</a>' if name in COMPONENTS else name
        for name in rule.components
    )
    reasons = [(title, link_rules(why, "")) for title, why in reasons_of(rule).items()]
    said = [("Why", link_rules(rule.intent, "")), ("Source", link_source(describe_source(rule))), *reasons]
    facts = "".join(f"<div><dt>{title}</dt><dd>{text}</dd></div>" for title, text in said)
    facts += "".join(
        f"<div><dt>{title}</dt><dd><ul>{''.join(f'<li>{one}</li>' for one in found)}</ul></dd></div>"
        for title, found in links
    )
    return (
        f'<article class="card about" id="{rule.id}"><h3>{rule.id} '
        f'<a class="here" href="#{rule.id}" aria-label="Link to {rule.id}">#</a> '
        f"<small>{rule.level} · {describe_judging(rule)} · {pages}</small></h3>\n"
        f"<p>{link_rules(rule.text, '')}</p>\n<dl>{facts}</dl></article>"
    )


def behind(library: Library, rule: Rule, tests: Iterable[Place]) -> Iterator[tuple[str, list[str]]]:
    """References of a rule as links: code, claims, tests, traces, and engines that break it."""
    found = {
        "Code": [link_place(library, place) for place in code_places().get(rule.id, ())],
        "Claims": [link_rules(statement, "") for statement in statements_of(rule)],
        "Tests": [link_place(library, place) for place in tests],
        "Directed traces": [
            link_story(name, one)
            for name in COMPONENTS
            for one in stories(name)
            if one.group == "directed" and rule.id in one.rules
        ],
        "Engines of the museum that break it": [
            link_story(mutant.component, of_mutant(mutant)) for mutant in all_mutants() if mutant.rule == rule.id
        ],
    }
    yield from ((title, links) for title, links in found.items() if links)


def link_place(library: Library, place: Place) -> str:
    words = html.escape(f"{place.path} {place.function}".rstrip())
    return f'<a href="{library.source(place)}"><code>{words}</code></a>'


def link_story(component: str, story: Story) -> str:
    config = quote(as_data(story.config), safe="")
    address = f"{PLAYGROUND}#{component}?config={config}&trace={quote(story.trace, safe='')}"
    return (
        f'<a href="{html.escape(address)}">{html.escape(story.name.replace("-", " "))}</a> {html.escape(story.story)}'
    )


def link_source(text: str) -> str:
    """The source of a rule, with links to its issues and classes."""

    def link(found: re.Match[str]) -> str:
        name = found[0]
        address = (
            f"https://issues.apache.org/jira/browse/{name}"
            if name.startswith("FLINK-")
            else f"https://github.com/search?q=repo%3Aapache%2Fflink+path%3A%2F{name}.java&amp;type=code"
        )
        return f'<a href="{address}" rel="noreferrer">{name}</a>'

    return CLASS.sub(link, html.escape(text))


# --- sources ------------------------------------------------------------------------------------------------------


def make_source(root: Path, file: str) -> Page:
    """A file with an anchor for each line."""
    path = source_page_of(file)
    lines = (root / file).read_text(encoding="utf-8").splitlines()
    rules = relative(RULES, path)
    code = "".join(f'<span id="L{at}">{link_rules(line, rules)}\n</span>' for at, line in enumerate(lines, 1))
    body = f'<h1>{html.escape(file)}</h1>\n<pre class="source" tabindex="0"><code>{code}</code></pre>'
    return Page(path, file, body)


# --- frame of a page ----------------------------------------------------------------------------------------------

Menu = list[tuple[str, list[tuple[str, str]]]]


def make_menu(pages: list[Page]) -> Menu:
    titles = {page.path: page.title for page in pages}
    groups = {group: [ADDRESSES.get(f"{name}.md", f"{name}.html") for name in names] for group, names in MENU.items()}
    groups["Semantics"] = ["docs/semantics/index.html", RULES]
    groups["Semantics"] += [f"docs/semantics/{place.name}.html" for place in BY_FLOOR[Floor.CORE]]
    groups["Inside Flink"] = [f"docs/semantics/{place.name}.html" for place in BY_FLOOR[Floor.INSIDE]]
    groups["Findings"] += [path for path in titles if path.startswith("docs/findings/") and "/index" not in path]
    listed = {path for paths in groups.values() for path in paths}
    groups["Project"] += [path for path in titles if path not in listed]
    return [(group, [(path, titles[path]) for path in paths if path in titles]) for group, paths in groups.items()]


def index(pages: Iterable[Page]) -> Iterator[tuple[str, str, str, str]]:
    """Every section: its address, the title of its page, its own title, and its text. Rules are on one page only."""
    for page in pages:
        for section in page.sections:
            if page.path == RULES or section.title not in all_rules():
                anchor = f"#{section.anchor}" if section.level > 1 else ""
                yield page.path + anchor, page.title, section.title, section.text


def frame(page: Page, menu: Menu) -> str:
    to: Callable[[str], str] = partial(relative, page=page.path)
    links = "".join(
        f"<section><h2>{group}</h2><ul>{''.join(menu_link(page, *entry) for entry in entries)}</ul></section>"
        for group, entries in menu
    )
    contents = "".join(
        f'<li><a href="#{one.anchor}">{html.escape(one.title)}</a></li>' for one in page.sections if one.level == 2
    )
    base = posixpath.relpath(".", posixpath.dirname(page.path) or ".")
    return f"""{make_head(page.title, PAGE_POLICY)}
<link rel="icon" href="{to("icon.svg")}">
<link rel="stylesheet" href="{to("style.css")}">
<link rel="stylesheet" href="{to("read.css")}">
<script defer src="{to("read.js")}"></script>
</head>
<body class="read" data-base="{base}/">
<header class="top">
<p class="brand">
<a href="{to("index.html")}"><img src="{to("icon.svg")}" alt="" width="28" height="28"> Tidegate</a></p>
<search id="search"></search>
<div class="actions" id="actions"><a class="button" href="{to(PLAYGROUND)}">Playground</a></div>
</header>
<div class="frame">
<nav aria-label="Pages"><details open><summary>Pages</summary>{links}</details></nav>
<main id="main">
{page.body}
</main>
<aside aria-label="On this page">{f"<h2>On this page</h2><ul>{contents}</ul>" if contents else ""}</aside>
</div>
</body>
</html>
"""


def menu_link(page: Page, path: str, title: str) -> str:
    current = ' aria-current="page"' if path == page.path else ""
    return f'<li><a href="{relative(path, page.path)}"{current}>{html.escape(title)}</a></li>'
