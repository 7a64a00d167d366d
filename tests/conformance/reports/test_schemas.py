"""What programs read is what the schemas say, and what the page about them says."""

import json
from importlib.resources import files

import pytest
from jsonschema import Draft202012Validator

from tests.paths import ROOT
from tidegate.conformance.cli.main import main

SCHEMAS = files("tidegate.conformance.reports")
MUSEUM = "python:tidegate.conformance.engines.museum.engines"


def validator(name):
    return Draft202012Validator(json.loads((SCHEMAS / name).read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    "engine", [f"{MUSEUM}:ValveAlwaysFlushes", "python:tests.conformance.cli.engines:OnlyTheOldValve"]
)
def test_reports_and_results_keep_to_their_schemas(engine, tmp_path, capsys):
    main(["run", "--engine", engine, "--stage", "directed", "--format", "json", "--report", str(tmp_path)])
    result = json.loads(capsys.readouterr().out)
    assert list(validator("tidegate-result.json").iter_errors(result)) == []
    lines = [json.loads(line) for line in (tmp_path / "report.jsonl").read_text(encoding="utf-8").splitlines()]
    check = validator("tidegate-report.json")
    assert [error for line in lines for error in check.iter_errors(line)] == []
    assert {"format", "events", "exit"} <= {key for line in lines for key in line} or engine.endswith("OldValve")
    assert list(check.iter_errors({**lines[1], "verdict": "splendid"}))


def test_steps_are_counted_as_for_people(tmp_path, capsys):
    arguments = ["run", "--engine", f"{MUSEUM}:ValveAlwaysFlushes", "--stage", "directed", "--report", str(tmp_path)]
    main(arguments)
    text = capsys.readouterr().out
    (finding,) = [line for line in map(json.loads, (tmp_path / "report.jsonl").open()) if line.get("step")]
    assert finding["step"] == len(finding["events"]) == 7
    assert "at step   7, 2i" in text


@pytest.mark.parametrize("name", ["tidegate-report.json", "tidegate-result.json"])
def test_the_page_names_every_field(name):
    page = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8")
    schema = json.loads((SCHEMAS / name).read_text(encoding="utf-8"))
    parts = [schema, *schema.get("$defs", {}).values()]
    fields = {field for part in parts for field in part.get("properties", {})}
    assert {field for field in fields if f"`{field}`" not in page} == set()
