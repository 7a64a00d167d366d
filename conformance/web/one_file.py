"""A page in one file: it opens from disk, loads nothing, and runs only its own script."""

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from typing import Any

STATIC = files("tidegate.conformance.web") / "static"


def make_head(title: str, policy: str) -> str:
    """The start of the head of every page."""
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{html.escape(title)} · Tidegate</title>"""


def make_file(kind: str, title: str, body: str, script: str = "") -> str:
    """The page; `body` is inserted after its header unchanged. The policy blocks every script except ours."""
    style = "".join((STATIC / name).read_text(encoding="utf-8") for name in ("style.css", "report.css"))
    icon = base64.b64encode((STATIC / "icon.svg").read_bytes()).decode()
    scripts = f"script-src '{digest(script)}'; " if script else ""
    policy = (
        f"default-src 'none'; {scripts}style-src '{digest(style)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )
    module = f'<script type="module">{script}</script>\n' if script else ""
    return f"""{make_head(title, policy)}
<link rel="icon" href="data:image/svg+xml;base64,{icon}">
<style>{style}</style>
</head>
<body class="report">
<header class="top"><p class="brand">{drawn_icon()} Tidegate <span>{kind}</span></p>
<div class="actions" id="actions"></div></header>
{body}
{module}</body>
</html>
"""


def drawn_icon() -> str:
    """The icon as a part of the page."""
    icon = (STATIC / "icon.svg").read_text(encoding="utf-8")
    return icon.strip().replace("<svg ", '<svg width="28" height="28" aria-hidden="true" ', 1)


def digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def as_data(value: Any) -> str:
    """JSON without anything that could end a script element."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+)\.js";\n', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:function|const|let) (\w+))", re.MULTILINE)


def bundle(name: str) -> str:
    """A module with all its imports as one script: each module is a function that returns its exports."""
    modules: dict[str, str] = {}

    def add(file: str) -> None:
        source = (STATIC / file).read_text(encoding="utf-8")
        for _names, imported in IMPORT.findall(source):
            if imported not in modules:
                add(f"{imported}.js")
        exported = [found for _text, found in EXPORT.findall(source)]
        body = EXPORT.sub(r"\1", IMPORT.sub(r"const \1 = \2;\n", source))
        modules[file.removesuffix(".js")] = f"{body}\nreturn {{ {', '.join(exported)} }};"

    add(name)
    return "\n".join(f"const {module} = (() => {{\n{body}\n}})();" for module, body in modules.items())
