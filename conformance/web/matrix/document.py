"""The matrix as a Markdown document, such as docs/flink-versions.md."""

from collections.abc import Iterator, Sequence

from tidegate.conformance.engines.text import unformatted
from tidegate.conformance.web.matrix.columns import Cell, Column, rows_of


def make_document(columns: Sequence[Column], title: str) -> str:
    names = short_names([column.engine for column in columns])
    lines = [
        f"# {unformatted(title)}",
        "",
        f"Written by `tidegate matrix` from {tell_reports(columns)}.",
        "A number alone: this many cases, all as specified. `a / b`: b of a cases differ for known reasons, which",
        "are listed below. **Bold**: some differ for no known reason. Empty: the engine does not declare it, or it was",
        "not run.",
        "",
        "| | " + " | ".join(map(unformatted, names)) + " |",
        "|---|" + "---:|" * len(columns),
    ]
    for row in rows_of(columns):
        found = [column.find(row) for column in columns]
        lines.append(f"| {row} | " + " | ".join(show(one[0]) if one else "" for one in found) + " |")
    whole = list(zip(names, columns, strict=True))
    return "\n".join([*lines, *tell_differences(whole), *tell_semantics(whole)]) + "\n"


def short_names(engines: Sequence[str]) -> list[str]:
    """Names without the kind of engine if all have the same kind: only the versions."""
    kinds = {engine.partition(":")[0] for engine in engines if ":" in engine}
    is_one = len(engines) > 1 and len(kinds) == 1 and all(":" in engine for engine in engines)
    return [engine.partition(":")[2] if is_one else engine for engine in engines]


def tell_reports(columns: Sequence[Column]) -> str:
    reports = [report for column in columns for report in column.reports]
    days = sorted({report.day.isoformat() for report in reports})
    seeds = sorted({unformatted(report.seed) for report in reports})
    told = f"{len(reports)} reports of {' to '.join(dict.fromkeys((days[0], days[-1])))}, seed {', '.join(seeds)}"
    most = max(report.generated for report in reports)
    return f"{told}, up to {most:,} generated cases per component" if most else told


def show(cell: Cell) -> str:
    differing = cell.total - cell.passed
    text = f"{cell.total} / {differing}" if differing else str(cell.total)
    return f"**{text}**" if cell.wrong or cell.open else text


def tell_differences(columns: Sequence[tuple[str, Column]]) -> Iterator[str]:
    yield from ("", "## Differences and their reasons", "")
    told = []
    for name, column in columns:
        for row in rows_of([column]):
            found = column.find(row)
            assert found is not None
            cell = found[0]
            place = f"{unformatted(name)}, {row}"
            told += [f"- {place}: {count} cases. {unformatted(why)}." for why, count in cell.known.items()]
            if cell.wrong:
                such = unformatted(cell.example)
                told.append(f"- **{place}: {cell.wrong} cases for no known reason**, such as {such}.")
            if cell.open:
                told.append(f"- **{place}: {cell.open} cases are undetermined**.")
    yield from told or ["Nothing."]


def tell_semantics(columns: Sequence[tuple[str, Column]]) -> Iterator[str]:
    held: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for name, column in columns:
        for report in column.reports:
            for row, semantics in report.semantics.items():
                if row in report.cells:
                    held.setdefault((row, semantics), []).append(unformatted(name))
    if held:
        yield from ("", "## Dated semantics", "", "| component | semantics | engines |")
        yield "|---|---|---|"
    for (row, semantics), names in sorted(held.items()):
        yield f"| {row} | {', '.join(map(unformatted, semantics))} | {', '.join(names)} |"
