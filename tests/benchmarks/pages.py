"""Tables that benchmarks write into pages of the documentation."""


def write_between(path, name, text):
    """Between the marks of that name in the page, and nowhere else."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    page = path.read_text(encoding="utf-8")
    before, rest = page.split(begin)
    _old, after = rest.split(end)
    path.write_text(f"{before}{begin}\n{text}\n{end}{after}", encoding="utf-8")
