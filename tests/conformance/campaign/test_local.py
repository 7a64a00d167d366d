"""Campaigns in one process: what they count, keep, take up again and refuse. Nothing here needs Java."""

import json
import os
import signal
from contextlib import nullcontext

import attrs
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.conformance.campaign.campaigns import ENGINES, WRONG, command, in_one_process, summary_of, tidegate
from tests.paths import PYTHONPATH
from tests.processes import PATIENCE, launch, wait_until
from tidegate import __version__
from tidegate.conformance.campaign import folder, outcome
from tidegate.conformance.campaign.campaign import Campaign
from tidegate.conformance.campaign.folder import CampaignFolderError, Folder
from tidegate.conformance.campaign.outcome import decode_verdict, encode_verdict, not_run
from tidegate.conformance.campaign.plan import Order, make_plan, usual_chunk
from tidegate.conformance.campaign.pool import explain, run_here, with_attempts
from tidegate.conformance.campaign.summary import Reader, summarize
from tidegate.conformance.campaign.worker import run_chunk
from tidegate.conformance.cli.campaign import notes
from tidegate.conformance.engines import CannotStartError
from tidegate.conformance.exits import Exit
from tidegate.conformance.judging.expectations import Entry, Expectations
from tidegate.conformance.judging.trial import Runner, Tally
from tidegate.conformance.judging.verdicts import Status
from tidegate.conformance.kinds import resolve
from tidegate.conformance.reports.writing import CannotWriteError, FolderBusyError
from tidegate.properties.drawing.cases import draw_case


def make_campaign(folder, engine="reference", components=("valve",), cases=100, chunk=25, seed=0, **limits):
    with resolve(engine) as one:
        plan = make_plan(engine, one.start(), list(components), seed=seed, cases=cases, chunk=chunk)
    return Campaign(plan, Folder(folder), limits)


def conduct(campaign):
    with campaign.folder.opened(campaign.plan), resolve(campaign.plan.engine) as engine:
        campaign.look()
        campaign.run(run_here)
        return summarize(campaign, engine, 1.0)


def test_the_summary_is_that_of_one_process(tmp_path):
    out = tmp_path / "out"
    components = ("valve", "combiner", "gate")
    done = tidegate(
        "--engine", "reference", "--cases", 120, "--chunk", 50, "--seed", 3, "--local", "--out", out,
        *(word for name in components for word in ("--component", name)),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found, about = summary_of(out)
    assert found == in_one_process("reference", components, 120, 3)
    assert found["cases"] == 360
    assert (about["chunks"], about["chunks_resumed"], about["chunks_left"]) == (9, 0, 0)
    assert '"cases":360' in (out / "index.html").read_text(encoding="utf-8")


def test_counterexamples_are_those_of_one_process(tmp_path):
    summary = conduct(make_campaign(tmp_path, WRONG, cases=300, seed=7)).json()
    expected = in_one_process(WRONG, ("valve",), 300, 7)
    assert expected["counterexamples"]
    assert json.loads(json.dumps(summary["counterexamples"])) == expected["counterexamples"]
    assert json.loads(json.dumps(summary["counts"])) == expected["counts"]


def test_a_campaign_that_is_done_is_not_run_again(tmp_path):
    first = conduct(make_campaign(tmp_path))
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "chunks").iterdir()}
    campaign = make_campaign(tmp_path)
    again = conduct(campaign)
    assert again.result.counts == first.result.counts
    assert again.result.coverage == first.result.coverage
    assert len(campaign.resumed) == 4
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "chunks").iterdir()} == before


def test_only_what_is_missing_is_run_again(tmp_path):
    first = conduct(make_campaign(tmp_path))
    victim = sorted((tmp_path / "chunks").iterdir())[2]
    victim.rename(victim.with_suffix(".half"))  # as if it had been killed while writing this one
    campaign = make_campaign(tmp_path)
    ran = []
    with campaign.folder.opened(campaign.plan):
        campaign.look()
        campaign.run(run_here, ran.append)
    assert [outcome.chunk.first for outcome in ran] == [50]
    again = conduct(make_campaign(tmp_path))
    assert again.result.counts == first.result.counts
    assert not list((tmp_path / "chunks").glob("*.half"))


def test_chunks_can_be_queried(tmp_path):
    conduct(make_campaign(tmp_path, WRONG, cases=200, seed=7))
    rows = pq.read_table(tmp_path / "chunks").to_pylist()
    counted = {result: sum(row["count"] for row in rows if row["row"] == "count" and row["result"] == result)
               for result in ("pass", "fail")}  # fmt: skip
    findings = [row for row in rows if row["row"] == "finding"]
    assert counted["pass"] + counted["fail"] == 200
    assert counted["fail"] == len(findings) > 0
    assert all(row["rules"] and row["case"].startswith("valve-7-") for row in findings)


def test_evidence_is_the_whole_verdict():
    with resolve(WRONG) as engine:
        runner = Runner(engine)
        verdicts = [runner.run_one(draw_case("valve", 7, index), "generated") for index in range(60)]
    failed = [verdict for verdict in verdicts if verdict.status is Status.FAIL]
    assert failed
    for verdict in failed:
        assert decode_verdict(json.loads(json.dumps(encode_verdict(verdict)))) == verdict


@pytest.mark.parametrize(("option", "value"), [("seed", 4), ("cases", 101), ("chunk", 20), ("engine", WRONG)])
def test_another_campaign_is_refused(tmp_path, option, value):
    conduct(make_campaign(tmp_path))
    other = make_campaign(tmp_path, **{option: value})
    with (
        pytest.raises(CampaignFolderError, match=f"holds another campaign.*{option} is"),
        other.folder.opened(other.plan),
    ):
        pass


def test_one_process_at_a_time(tmp_path):
    campaign = make_campaign(tmp_path)
    with (
        campaign.folder.opened(campaign.plan),
        pytest.raises(FolderBusyError, match="another campaign is running"),
        Folder(tmp_path).opened(campaign.plan),
    ):
        pass


def flip(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 4
    path.write_bytes(content)


def change_counts(path):
    """A whole Parquet file that counts more than there is."""
    table = pq.read_table(path)
    counts = [None if count is None else count + 1000 for count in table["count"].to_pylist()]
    changed = table.set_column(table.schema.get_field_index("count"), "count", pa.array(counts, pa.int64()))
    pq.write_table(changed, path)


def unseal(path):
    """As older releases wrote them."""
    pq.write_table(pq.read_table(path).replace_schema_metadata({}), path)


def copy_neighbour(path):
    path.write_bytes(max(path.parent.iterdir()).read_bytes())


def copy_from_another_campaign(path):
    other = make_campaign(path.parents[1] / "other", seed=9)
    conduct(other)
    path.write_bytes(other.folder.done(next(other.plan.chunks())).read_bytes())


def put_a_link_to_nowhere(path):
    path.unlink()
    path.symlink_to("nowhere")


DAMAGE = {
    flip: "its checksum does not match",
    change_counts: "its checksum does not match",
    unseal: "it has no checksum",
    copy_neighbour: "its checksum does not match",
    copy_from_another_campaign: "its checksum does not match",
    put_a_link_to_nowhere: "cannot be read: No such file",
    lambda path: os.truncate(path, 2**40): "it is not a chunk file",
    lambda path: path.write_bytes(path.read_bytes()[:100]): "it has no checksum",
    lambda path: path.write_bytes(b""): "cannot mmap an empty file",
}


@pytest.mark.parametrize(("damage", "why"), DAMAGE.items())
def test_a_damaged_chunk_is_named_and_run_again(tmp_path, damage, why):
    first = conduct(make_campaign(tmp_path))
    victim = min((tmp_path / "chunks").iterdir())
    damage(victim)
    campaign = make_campaign(tmp_path)
    again = conduct(campaign)
    assert again.result.counts == first.result.counts
    assert (len(campaign.resumed), campaign.ran, again.about["chunks_damaged"]) == (3, 1, 1)
    assert [line for line in notes(again.about) if str(victim) in line and why in line and "runs again" in line]
    assert conduct(make_campaign(tmp_path)).about["damaged"] == []


def seal_again(rows, path, plan, chunk):
    """As if we had written it."""
    table = pa.Table.from_pylist(rows, schema=pa.schema(folder.types().items(), {b"tidegate": folder.SEAL + b"0" * 64}))
    pq.write_table(table, path)
    content = bytearray(path.read_bytes())
    at = content.rindex(folder.SEAL) + len(folder.SEAL)
    content[at : at + 64] = folder.seal_of(chunk, plan, content, at)
    path.write_bytes(content)


#: The last row of a kind, and what it holds; and why the chunk is not believed although its checksum fits.
FORGED = {
    ("count", "count", 1): "cases, but the chunk has 25",
    ("count", "count", 2**62): "cases, but the chunk has 25",
    ("count", "count", -1): "cases, but the chunk has 25",
    ("count", "result", "frob"): "'frob' is not a valid Status",
    ("count", "result", "not run"): "does not say whether it is done",
    ("count", "count", None): "required values are missing",
    ("finding", "result", "crash"): "its findings do not match its counts",
    ("finding", "case", "valve-7-99"): "its findings belong to other cases, or to one case twice",
    ("finding", "size", None): "required values are missing",
    ("finding", "row", "frob"): "'frob'",
    ("rules", "count", -5): "cases, but the chunk has 25",
    ("chunk", "seconds", float("nan")): "it took nan seconds",
    ("chunk", "first", 25): "it claims to be another chunk",
}


@pytest.mark.parametrize(("kind", "name", "value", "why"), [(*forged, why) for forged, why in FORGED.items()])
def test_a_chunk_that_cannot_be_is_not_believed(tmp_path, kind, name, value, why):
    campaign = make_campaign(tmp_path, WRONG, cases=25, seed=7)
    chunk, path = run_one_chunk(campaign)
    rows = pq.read_table(path).to_pylist()
    assert {row["row"] for row in rows} == set(folder.FILLED)
    seal_again(rows, path, campaign.plan, chunk)
    assert list(campaign.folder.done_chunks(campaign.plan, damaged := [])) == [chunk]
    [row for row in rows if row["row"] == kind][-1][name] = value
    seal_again(rows, path, campaign.plan, chunk)
    assert list(campaign.folder.done_chunks(campaign.plan, damaged)) == []
    assert why in damaged[0]


def run_one_chunk(campaign):
    (campaign.folder.path / "chunks").mkdir()
    outcome = run_chunk(Order(campaign.plan, next(campaign.plan.chunks()), {}))
    campaign.folder.write(outcome, campaign.plan)
    return outcome.chunk, campaign.folder.done(outcome.chunk)


@pytest.mark.parametrize("evidence", ["junk", "{}", "7", "[" * 100_000])
def test_evidence_that_says_nothing_is_asked_for_again(tmp_path, evidence):
    campaign = make_campaign(tmp_path, WRONG, cases=25, seed=7)
    chunk, path = run_one_chunk(campaign)
    rows = [row | {"evidence": evidence} if row["evidence"] else row for row in pq.read_table(path).to_pylist()]
    seal_again(rows, path, campaign.plan, chunk)
    with resolve(WRONG) as engine:
        reader = Reader(campaign, Tally(Expectations()), engine)
        reader.read()
    assert {one.status for one in reader.tally.findings.kept} == {Status.FAIL}


@pytest.mark.parametrize("name", ["lock", "campaign.json", "chunks/valve-000000000000-000000000025.parquet"])
def test_pipes_are_not_waited_for(tmp_path, name):
    campaign = make_campaign(tmp_path)
    (tmp_path / "chunks").mkdir()
    if name.startswith("chunks"):
        campaign.folder.write_text("campaign.json", json.dumps(campaign.plan.manifest()))
    os.mkfifo(tmp_path / name)
    refused = () if name.startswith("chunks") else (CampaignFolderError, CannotWriteError)
    with pytest.raises(refused, match=name) if refused else nullcontext(), campaign.folder.opened(campaign.plan):
        campaign.look()
    assert refused or name in campaign.damaged[0]


def test_a_chunk_that_is_damaged_meanwhile_is_not_counted(tmp_path):
    campaign = make_campaign(tmp_path)
    with campaign.folder.opened(campaign.plan), resolve("reference") as engine:
        campaign.run(run_here)
        flip(min((tmp_path / "chunks").iterdir()))
        finished = summarize(campaign, engine, 1.0)
    assert finished.result.count(Status.NOT_RUN) == 25
    assert finished.exit_code is Exit.UNDETERMINED
    assert "not counted" in finished.about["damaged"][0]


def test_strangers_among_the_chunks_are_named(tmp_path):
    (tmp_path / "chunks").mkdir()
    conduct(make_campaign(tmp_path))
    for name in ("valve-000000000000-000000000026.parquet", "combiner-000000000000-000000000025.parquet", "x\x1b"):
        (tmp_path / "chunks" / name).write_text("junk")
    about = conduct(make_campaign(tmp_path)).about
    assert (about["chunks_damaged"], about["chunks_resumed"]) == (3, 4)
    assert all("not a chunk of this campaign" in line and line.isprintable() for line in about["damaged"])


def test_a_chunk_that_cannot_be_written_ends_it_and_what_is_known_is_told(tmp_path):
    campaign = make_campaign(tmp_path, WRONG)
    campaign.folder.done([*campaign.plan.chunks()][2]).mkdir(parents=True)
    campaign.folder.write_text("campaign.json", json.dumps(campaign.plan.manifest()))
    done = tidegate(
        "--engine", WRONG, "--component", "valve", "--cases", 100, "--chunk", 25, "--local", "--out", tmp_path
    )
    assert done.returncode == Exit.CANNOT_WRITE
    assert "parquet: cannot be written" in done.stderr
    assert "valve breaks VALVE-10" in done.stdout
    found, about = summary_of(tmp_path)
    assert (found["cases"], found["complete"], about["chunks_left"]) == (50, False, 2)


@pytest.mark.parametrize(
    "manifest", [b"\xff", b"[" * 100_000, b"[]", b"7", b"{", b'{"seed": "\x1b[2J"}', b"x" * 9_000_000]
)
def test_a_manifest_that_is_none(tmp_path, manifest):
    campaign = make_campaign(tmp_path)
    tmp_path.joinpath("campaign.json").write_bytes(manifest)
    with pytest.raises(CampaignFolderError) as raised, campaign.folder.opened(campaign.plan):
        pass
    assert str(raised.value).replace("\n", "").isprintable()
    assert len(str(raised.value)) < 5000


def test_ten_thousand_million_cases_begin_at_once(tmp_path):
    """Chunks are made when they are taken, and nothing goes by how many there will be."""
    campaign = make_campaign(tmp_path, cases=10**10, chunk=None)
    asked = []

    def pool(orders):
        asked.extend(orders.popleft().chunk.first for _ in range(3))
        yield from ()
        raise KeyboardInterrupt

    with campaign.folder.opened(campaign.plan), resolve("reference") as engine:
        campaign.run(pool)
        about = summarize(campaign, engine, 1.0).about
    assert asked == [0, 5000, 10_000]
    assert (about["chunks"], about["chunks_left"]) == (2_000_000, 2_000_000)


def test_evidence_is_kept_for_the_smallest_of_a_kind(monkeypatch):
    monkeypatch.setattr(outcome, "MOST_EVIDENCE", 100)
    kept = outcome.Findings()
    for number, size in enumerate((5, 9, 7, 4, 4, 6)):
        kept.add(outcome.Finding(f"valve-0-{number}", "fail", "VALVE-3", size, ("VALVE-3",), "m" * 200, "e" * 60))
    assert [bool(one.evidence) for one in kept.kept] == [True, False, False, True, False, False]
    assert max(len(one.message) for one in kept.kept if not one.evidence) < 150


def test_what_has_no_evidence_is_asked_again(tmp_path, monkeypatch):
    monkeypatch.setattr(outcome, "MOST_EVIDENCE", 0)
    campaign = make_campaign(tmp_path, WRONG, cases=300, seed=7, chunk=100)
    failed = conduct(campaign).result
    rows = pq.read_table(tmp_path / "chunks").to_pylist()
    known = Expectations(tuple(Entry("case", row["case"], "known") for row in rows if row["evidence"]))
    with resolve(WRONG) as engine:
        finished = summarize(campaign, engine, 1.0, known).result
    assert finished.count(Status.FAIL) == failed.count(Status.FAIL) - len(known.entries) > 0
    assert finished.counterexamples


def test_a_death_costs_one_case(tmp_path):
    campaign = make_campaign(tmp_path, f"{ENGINES}:DiesOfOne")
    finished = conduct(campaign).result
    assert (finished.count(Status.PASS), finished.count(Status.CRASH), finished.cases) == (99, 1, 100)
    assert finished.restarts == 1
    assert finished.exit_code is Exit.VIOLATIONS


def test_what_was_not_run_is_run_when_the_engine_is_mended(tmp_path, monkeypatch):
    """Two restarts, then a second chance: six deaths. The cases that are left keep the chunk open."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", PYTHONPATH)
    finished = conduct(make_campaign(tmp_path / "out", f"{ENGINES}:DiesOfMany", max_restarts=2)).result
    assert (finished.count(Status.PASS), finished.count(Status.CRASH), finished.count(Status.NOT_RUN)) == (75, 6, 19)
    assert len(list((tmp_path / "out" / "chunks").glob("*.open.parquet"))) == 1
    (tmp_path / "mended").touch()
    campaign = make_campaign(tmp_path / "out", f"{ENGINES}:DiesOfMany", max_restarts=2)
    finished = conduct(campaign).result
    assert len(campaign.resumed) == 3
    assert finished.counts == {("valve", "generated", Status.PASS): 100}
    assert not list((tmp_path / "out" / "chunks").glob("*.open.parquet"))


def test_the_rest_is_not_run_once_too_many_chunks_failed(tmp_path):
    campaign = make_campaign(tmp_path, cases=1000)
    asked = []

    def pool(orders):
        while orders:
            order = orders.popleft()
            asked.append(order.chunk)
            yield not_run(order.chunk, "no engine today")

    with campaign.folder.opened(campaign.plan), resolve("reference") as engine:
        campaign.run(pool)
        finished = summarize(campaign, engine, 1.0).result
    assert 10 < len(asked) < 60
    assert finished.counts == {("valve", "generated", Status.NOT_RUN): 1000}
    assert finished.exit_code is Exit.UNDETERMINED


def test_an_engine_of_another_version_is_refused_by_the_worker(tmp_path):
    plan = attrs.evolve(make_campaign(tmp_path).plan, implementation="reference 9.9")
    outcome = run_chunk(Order(plan, next(plan.chunks()), {}))
    assert outcome.is_lost
    assert f"reference {__version__}, not reference 9.9" in outcome.trouble


def test_known_failures(tmp_path):
    campaign = make_campaign(tmp_path, WRONG, cases=200, seed=7)
    failures = conduct(campaign).result.count(Status.FAIL)
    entries = (Entry("rule", "VALVE-10", "known"), Entry("case", "valve-7-0", "thought to fail"))
    with resolve(WRONG) as engine:
        finished = summarize(campaign, engine, 1.0, Expectations(entries)).result
    assert finished.count(Status.XFAIL) == failures > 0
    assert (finished.count(Status.FAIL), finished.count(Status.XPASS), finished.cases) == (0, 1, 200)


def test_an_interrupted_campaign_tells_what_is_known_and_goes_on(tmp_path):
    out, engine = tmp_path / "out", f"{ENGINES}:StopsAtThirty"
    arguments = ("--engine", engine, "--cases", 600, "--chunk", 10, "--timeout", 600, "--local", "--out", out)
    with launch(command(*arguments)) as process:
        wait_until(lambda: len(list(out.glob("chunks/*.parquet"))) == 3, process)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == Exit.UNDETERMINED
    assert "run the same command to resume" in said
    found, about = summary_of(out)
    assert not found["complete"]
    assert about["chunks_left"] == 57


def test_wrong_usage():
    assert tidegate("--engine", "reference", "--cases", 5).returncode == Exit.USAGE
    unknown = tidegate("--engine", "reference", "--cases", 5, "--component", "valves", "--local", "--out", "nowhere")
    assert (unknown.returncode, "no component 'valves'" in unknown.stderr) == (Exit.USAGE, True)
    for absurd in (("--cases", 10**16), ("--cases", 5, "--chunk", 10**9)):
        done = tidegate("--engine", "reference", *absurd, "--local", "--out", "nowhere")
        assert (done.returncode, "at most" in done.stderr) == (Exit.USAGE, True)
    undeclared = tidegate("--engine", WRONG, "--cases", 5, "--component", "gate", "--local", "--out", "nowhere")
    assert (undeclared.returncode, "does not declare gate" in undeclared.stderr) == (Exit.USAGE, True)


def test_without_java(tmp_path):
    done = tidegate("--engine", "reference", "--cases", 5, "--out", tmp_path / "out", JAVA_HOME=str(tmp_path))
    assert done.returncode == Exit.CANNOT_START
    assert "Java" in done.stderr
    assert not (tmp_path / "out").exists()


def test_chunks_grow_with_the_campaign():
    assert [usual_chunk(cases) for cases in (10, 40_000, 1_000_000)] == [500, 1000, 5000]


def test_local_masters_try_again():
    masters = ("local", "local[*]", "local[2]", "local[2,1]", "spark://host:7077")
    assert [*map(with_attempts, masters)] == [
        "local[1,4]",
        "local[*,4]",
        "local[2,4]",
        "local[2,1]",
        "spark://host:7077",
    ]


def test_jobs_that_failed_are_explained():
    assert explain("Job aborted:\n  File x\nMemoryError: too much\nat org.apache") == "MemoryError: too much"
    with pytest.raises(CannotStartError, match="executors cannot import tidegate"):
        explain("Job aborted\nModuleNotFoundError: No module named 'conformance'")
