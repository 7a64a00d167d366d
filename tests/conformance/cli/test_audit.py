"""`tidegate audit` and `tidegate generate log` as a user meets them."""

import json
import subprocess
import sys

import pytest

from tidegate.conformance.cli.main import main

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    arguments = ["--events", "4e4", "--runs", "2", "--faults", "13", "--seed", "3", "--out", str(folder / "faulty")]
    assert main(["generate", "log", *arguments]) == 0
    assert main(["generate", "log", "--events", "8000", "--out", str(folder / "clean")]) == 0
    return folder


def test_what_was_generated_is_listed(logs):
    made = json.loads((logs / "faulty" / "planted.json").read_text(encoding="utf-8"))
    assert [len(run["faults"]) for run in made["runs"]] == [7, 6]
    assert made["events"] == sum(parquet.read_metadata(path).num_rows for path in (logs / "faulty").glob("*.parquet"))


def test_a_clean_log(logs, capsys):
    assert main(["audit", "--local", str(logs / "clean")]) == 0
    out = capsys.readouterr().out
    assert "all that was checked holds" in out
    assert [line.split()[2:] for line in out.splitlines() if line.startswith("LOG-") and "skipped:" not in line] == [
        ["0", "0"]
    ] * 10 + [["0", "1"]] * 2


def test_a_faulty_log_with_a_report(logs, capsys, tmp_path):
    folder = tmp_path / "report"
    assert main(["audit", "--local", str(logs / "faulty"), "--report", str(folder), "--show", "1"]) == 1
    out = capsys.readouterr().out
    assert "LOG-LATE: record" in out
    assert "2 runs" in out
    assert "17 violations" in out
    lines = [json.loads(line) for line in (folder / "report.jsonl").read_text(encoding="utf-8").splitlines()]
    assert lines[0]["format"] == "tidegate-audit/1"
    assert lines[-1] == {"type": "footer", "exit": 1, "violations": 17}
    assert parquet.read_table(folder / "violations.parquet").num_rows == 17
    assert (folder / "summary.md").read_text(encoding="utf-8").startswith("| invariant | checked |")
    again = [line.split("tidegate ")[1].split() for line in out.splitlines() if line.startswith("  reproduce")]
    assert len(again) == 9
    for command in again:
        assert main(command) == 1


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_other_forms(logs, capsys, form):
    assert main(["audit", "--local", str(logs / "faulty"), "--format", form, "--only", "LOG-ORDER"]) == 1
    out = capsys.readouterr().out
    if form == "json":
        made = json.loads(out)
        assert {one["invariant"] for one in made["violations"]} == {"LOG-ORDER"}
        assert made["exit"] == 1
    else:
        assert "| LOG-ORDER |" in out
        assert "- LOG-ORDER: " in out


def test_what_cannot_be_read_is_named_and_the_rest_is_audited(logs, capsys, tmp_path):
    (tmp_path / "bad.parquet").write_bytes(b"no Parquet")
    assert main(["audit", "--local", str(logs / "clean"), str(tmp_path)]) == 2
    out = capsys.readouterr().out
    assert "not audited" in out
    assert "bad.parquet: is not a Parquet file, or is cut short" in out
    assert "1 run, " in out
    assert main(["audit", "--local", str(tmp_path)]) == 65
    (tmp_path / "empty").mkdir()
    assert main(["audit", "--local", str(tmp_path / "empty"), "--format", "json"]) == 65
    assert "no *.parquet files" in capsys.readouterr().out


def test_skipped_and_unexercised_invariants_are_said(logs, capsys, tmp_path):
    (path,) = (logs / "clean").glob("*.parquet")
    table = parquet.read_table(path)
    known = {key.decode(): value.decode() for key, value in table.schema.metadata.items()}
    job = json.loads(known["job"])
    job["capabilities"] |= {"known_routing": False}
    without = table.filter([kind not in ("buffer", "credit") for kind in table["kind"].to_pylist()])
    steps = renumbered(without)
    parquet.write_table(steps.replace_schema_metadata(known | {"job": json.dumps(job)}), tmp_path / "log.parquet")
    assert main(["audit", "--local", str(tmp_path)]) == 2
    out = capsys.readouterr().out
    assert "LOG-ROUTE was skipped: the engine shows no known routing." in out
    assert "LOG-CREDIT met nothing to check." in out
    assert "undetermined" in out


def renumbered(table):
    """Steps without gaps again."""
    counts, steps = {}, []
    for place in zip(table["task"].to_pylist(), table["subtask"].to_pylist(), strict=True):
        steps.append(counts.get(place, 0))
        counts[place] = steps[-1] + 1
    return table.set_column(table.schema.get_field_index("step"), "step", pyarrow.array(steps, pyarrow.int64()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["audit", "x", "--local", "--master", "local[2]"], "without Spark"),
        (["audit", "x", "--local", "--path", "shuffle"], "without Spark"),
        (["audit", "x", "--local", "--only", "LOG-NOTHING"], "no invariant 'LOG-NOTHING'"),
        (["generate", "log", "--events", "0", "--out", "x"], "whole number from 1 on"),
        (["generate", "log", "--events", "many", "--out", "x"], "whole number from 1 on"),
        (["generate", "log", "--events", "9", "--faults", "wrong=1", "--out", "x"], "the kinds are lost"),
        (["generate", "log", "--events", "9", "--faults", "late=99", "--out", "x"], "ask for more runs"),
    ],
)
def test_wrong_usage(capsys, arguments, message):
    with pytest.raises(SystemExit) as error:
        main(arguments)
    assert error.value.code == 64
    assert message in capsys.readouterr().err


def test_without_the_libraries_it_says_what_to_install(logs):
    program = (
        "import importlib.util as u, sys\n"
        "real = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'pyarrow' else real(name, *rest)\n"
        "from tidegate.conformance.cli.main import main\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", program, "audit", "--local", str(logs / "clean")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 69
    assert "pip install 'tidegate[audit]'" in done.stderr
