"""Markdown of this repository as the body of a page: headings with anchors, links between pages, rules as links.

HTML in Markdown stays text, except line breaks, comments and the pictures of the README, so that only our own markup
is on a page.
"""

import html
import posixpath
import re
from collections.abc import Callable, Sequence
from typing import Any

import attrs
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tidegate.reference.rules import all_rules

RULE = re.compile(r"\b[A-Z]+-\d+\b")
ADDRESS = re.compile(r'(src|srcset)="([^"]*)"')


@attrs.frozen
class Section:
    """A heading and the text below it."""

    level: int
    title: str
    anchor: str
    text: str = ""


@attrs.frozen
class Body:
    html: str
    sections: tuple[Section, ...]


def render(text: str, resolve: Callable[[str], str], rules: str, graph: str = "") -> Body:
    """The body of a page. `resolve` turns a link into an address, `rules` is the page with all rules."""
    markdown = make_renderer()
    env = {"resolve": resolve, "rules": rules, "graph": graph}
    tokens = markdown.parse(text)
    sections = tuple(find_sections(tokens))
    return Body(markdown.renderer.render(tokens, markdown.options, env), sections)


def find_sections(tokens: Sequence[Token]) -> list[Section]:
    """Adds anchors to the headings, and collects the text below each."""
    found: list[Section] = []
    used: dict[str, int] = {}
    for at, token in enumerate(tokens):
        if token.type == "heading_open":
            title = plain(tokens[at + 1])
            slug = slug_of(title)
            used[slug] = used.get(slug, -1) + 1
            anchor = f"{slug}-{used[slug]}" if used[slug] else slug
            token.attrSet("id", anchor)
            found.append(Section(int(token.tag[1]), title, anchor))
        elif found and (token.type in ("fence", "code_block") or is_text(tokens, at)):
            said = token.content if token.type != "inline" else plain(token)
            found[-1] = attrs.evolve(found[-1], text=f"{found[-1].text} {' '.join(said.split())}".strip())
    return found


def is_text(tokens: Sequence[Token], at: int) -> bool:
    return tokens[at].type == "inline" and tokens[at - 1].type != "heading_open"


def plain(token: Token) -> str:
    return "".join(" " if one.type in ("softbreak", "html_inline") else one.content for one in token.children or ())


def slug_of(title: str) -> str:
    """The anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def link_rules(text: str, page: str) -> str:
    """Text with links for the rules that it names."""
    parts = RULE.split(text)
    names = [
        f'<a href="{html.escape(page)}#{name}">{name}</a>' if name in all_rules() else name
        for name in RULE.findall(text)
    ]
    return "".join(html.escape(part) + name for part, name in zip(parts, [*names, ""], strict=True))


# --- rendering of tokens ------------------------------------------------------------------------------------------


def make_renderer() -> MarkdownIt:
    markdown = MarkdownIt("commonmark").enable("table")
    for name, write in WRITERS.items():
        markdown.add_render_rule(name, write)
    return markdown


Tokens = Sequence[Token]


def write_text(_self: Any, tokens: Tokens, at: int, _options: Any, env: Any) -> str:
    text = tokens[at].content
    return html.escape(text) if in_link(tokens, at) else link_rules(text, env["rules"])


def write_code(_self: Any, tokens: Tokens, at: int, _options: Any, env: Any) -> str:
    text = tokens[at].content
    inner = link_rules(text, env["rules"]) if text in all_rules() and not in_link(tokens, at) else html.escape(text)
    return f"<code>{inner}</code>"


def in_link(tokens: Tokens, at: int) -> bool:
    before = [one.type for one in tokens[:at]]
    return before.count("link_open") > before.count("link_close")


def write_link(self: Any, tokens: Tokens, at: int, options: Any, env: Any) -> str:
    address = str(tokens[at].attrs["href"])
    tokens[at].attrSet("href", env["resolve"](address))
    if "://" in address:
        tokens[at].attrSet("rel", "noreferrer")
    return str(self.renderToken(tokens, at, options, env))


def write_image(_self: Any, tokens: Tokens, at: int, _options: Any, env: Any) -> str:
    source = html.escape(env["resolve"](str(tokens[at].attrs["src"])))
    return f'<img src="{source}" alt="{html.escape(plain(tokens[at]))}">'


def write_heading_end(_self: Any, tokens: Tokens, at: int, _options: Any, _env: Any) -> str:
    tag, anchor = tokens[at].tag, tokens[at - 2].attrs["id"]
    label = html.escape(f"Link to {plain(tokens[at - 1])}")
    return f' <a class="here" href="#{anchor}" aria-label="{label}">#</a></{tag}>\n'


def write_table(_self: Any, _tokens: Tokens, _at: int, _options: Any, _env: Any) -> str:
    return '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>\n'


def write_table_end(_self: Any, _tokens: Tokens, _at: int, _options: Any, _env: Any) -> str:
    return "</table></div>\n"


def write_cell(_self: Any, tokens: Tokens, at: int, _options: Any, _env: Any) -> str:
    """A cell; styles inside a page are forbidden by its policy."""
    side = str(tokens[at].attrs.get("style", "")).removeprefix("text-align:")
    return f'<{tokens[at].tag} class="{side}">' if side in ("right", "center") else f"<{tokens[at].tag}>"


def write_fence(_self: Any, tokens: Tokens, at: int, _options: Any, env: Any) -> str:
    if tokens[at].info == "mermaid":
        return str(env["graph"])
    return f'<pre tabindex="0"><code>{html.escape(tokens[at].content)}</code></pre>\n'


def write_html(_self: Any, tokens: Tokens, at: int, _options: Any, env: Any) -> str:
    text = tokens[at].content
    if text.startswith("<!--"):
        return ""
    if re.fullmatch(r"<br ?/?>", text):
        return "<br>"
    if text.startswith("<picture>"):
        return ADDRESS.sub(lambda found: f'{found[1]}="{html.escape(env["resolve"](found[2]))}"', text)
    return html.escape(text)


WRITERS: dict[str, Callable[..., str]] = {
    "text": write_text,
    "code_inline": write_code,
    "link_open": write_link,
    "image": write_image,
    "heading_close": write_heading_end,
    "table_open": write_table,
    "table_close": write_table_end,
    "th_open": write_cell,
    "td_open": write_cell,
    "fence": write_fence,
    "code_block": write_fence,
    "html_inline": write_html,
    "html_block": write_html,
}


def relative(address: str, page: str) -> str:
    """An address of the site, relative to a page."""
    path, mark, anchor = address.partition("#")
    return posixpath.relpath(path, posixpath.dirname(page) or ".") + mark + anchor
