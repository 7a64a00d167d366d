"""report.jsonl as a reader has to take it: whole, or not at all."""

import json

FORMAT = "tidegate-report/2"


def read_report(path):
    """Header, verdicts and footer."""
    lines = [json.loads(text) for text in path.read_text(encoding="utf-8").splitlines()]
    header, *verdicts, footer = lines
    assert header["format"] == FORMAT
    assert footer.keys() >= {"verdicts", "complete", "exit"}, "no footer: the run did not end"
    assert footer["verdicts"] == len(verdicts)
    return header, verdicts, footer
