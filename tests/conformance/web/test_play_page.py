"""The playground as people use it: in a real browser, by clicking, typing and keys."""

import json
from contextlib import contextmanager
from urllib.parse import quote

import pytest

from tests.conformance.web.conftest import LOOKS, fits, serious_barriers, shoot
from tidegate.conformance.documents.stepping import step_through
from tidegate.conformance.web.playing import PlayError, config_of, name_parts, stories
from tidegate.properties.drawing.cases import draw_case
from tidegate.reference.components import COMPONENTS
from tidegate.traces.codec import decode, encode
from tidegate.traces.notation.text import read_case, write_trace

#: Traces drawn for each component; and in a sample, for every so manieth. One page shows them one after the other.
DRAWN = 200
SAMPLE = 3
SPARSE = 6
#: Longer ones would show no more, and take longer to draw.
MAX_DRAWN_EVENTS = 16
VALVE = {"channels": 3, "semantics": "flink-7728"}
#: Milliseconds for each step of a trace that is walked through.
PACE = 700
SEVEN = "2i 0w20 1w10 0i 2a 1i 2i"
#: Goes to an address, and gives the steps that are shown there. The page's own seconds are counted, which stand still
#: while the machine has no time for it.
VISIT = """async (place) => {
  let seconds = 0, clock;
  const played = new Promise((done, fail) => {
    document.addEventListener("played", done, { once: true });
    const failed = () => document.querySelector("#main > .alert > h1")?.parentElement.textContent ?? "";
    clock = setInterval(() => { if (++seconds > 300 || failed()) fail(new Error(`${place}: ${failed()}`)); }, 1000);
  });
  location.hash = place;
  const { steps } = (await played).detail;
  clearInterval(clock);
  return steps;
}"""
#: Goes to one address after the other, and gives where something else is shown than is expected: in what the page has
#: of each step, or in what can be read on it, which is every event, and all of the last step.
COMPARE = f"""async (cases) => {{
  const visit = {VISIT};
  const read = (selector, of = (each) => each.textContent) => [...document.querySelectorAll(selector)].map(of);
  const say = (seen) => seen.join(", ") || "nothing";
  const differing = [];
  for (const [place, expected] of cases) {{
    const taken = (await visit(place)).map((step) => ({{ event: step.event, ...step.outcomes[step.chosen] }}));
    const kept = taken.map((one) => [one.event, say(one.observations), one.rules, one.words || "–"]);
    const taken_ = (part) => read(`.outcome.taken ${{part}}`);
    const last = [say(taken_(".observations code")), taken_(".rulelist .rule"), read("#words")[0]];
    const events = read(".lanes .step", (each) => each.title.replace(/^\\d+\\. /, "")).slice(1);
    const shown = events.map((event, at) => [event, ...at + 1 < events.length ? kept[at]?.slice(1) ?? [] : last]);
    const wrong = [kept, shown].filter((seen) => JSON.stringify(seen) !== JSON.stringify(expected));
    differing.push(...wrong.map((seen) => ({{ place, seen, expected }})));
  }}
  return differing;
}}"""


def place(component, config, trace, **more):
    parts = {"config": json.dumps(config), "trace": trace, **more}
    return f"#{component}?" + "&".join(f"{name}={quote(str(text), safe='')}" for name, text in parts.items())


@pytest.fixture
def play(open_page, playground):
    """Opens the playground at a trace, and waits for the picture."""

    @contextmanager
    def opened(component, config, trace="", parts=(), **more):
        with open_page(playground + place(component, config, trace, **dict(parts)), **more) as page:
            page.locator(".lanes").first.wait_for()
            yield page

    return opened


def event(page, token):
    return page.locator(f'[data-event="{token}"]')


@pytest.mark.rule("VALVE-13", "VALVE-12")
def test_flink_40475_is_found_by_clicking(open_page, playground):
    """Both of its defects, each by seven clicks; then the corrected valve beside it."""
    with open_page(playground) as page:
        page.get_by_role("link", name="valve", exact=True).click()
        for token in ("2i", "0w2", "1w1", "0i", "2a", "1i"):
            event(page, token).click()
            page.locator(".lanes .step.at", has_text=token).wait_for()
            assert page.get_by_role("alert").count() == 0
        event(page, "0a").click()
        assert "no-pending-minimum" in page.get_by_role("alert").inner_text()
        page.get_by_role("button", name="Undo").click()
        page.get_by_role("alert").wait_for(state="detached")
        event(page, "2i").click()
        assert "all-idle-puts-out-the-maximum" in page.get_by_role("alert").inner_text()
        page.get_by_label("compare with").select_option("flink-40475")
        page.get_by_role("heading", name="flink-40475").wait_for()
        assert page.locator(".cell.differs").count() == 2, "what is emitted differs at the last step, on both sides"
        shoot(page, "flink-40475")


def test_a_page_without_an_address_begins_with_the_valve_once(open_page, playground):
    with open_page(playground) as page:
        page.locator(".lanes").first.wait_for()
        page.goto("about:blank")
        asked = []
        page.on("request", lambda request: asked.append(request.post_data_json) if request.method == "POST" else None)
        page.goto(playground)
        page.locator(".lanes").first.wait_for()
        assert [question["ask"] for question in asked] == ["components", "component", "play"]
        assert "#valve?" in page.url


def test_an_address_that_comes_late_takes_no_click_away(play):
    """While another component is still being asked for, an event of this one is clicked: that is what is wanted now."""
    with play("valve", VALVE) as page:
        held, questions = [], []

        def hold(route):
            questions.append(route.request.post_data_json)
            if questions[-1] == {"ask": "component", "component": "combiner"}:
                held.append(route)
            else:
                route.continue_()

        page.route("**/ask", hold)
        with page.expect_request(lambda request: "combiner" in (request.post_data or "")):
            page.get_by_role("link", name="combiner", exact=True).click()
        event(page, "2i").click()
        page.locator(".lanes .step.at", has_text="2i").wait_for()
        with page.expect_response("**/ask"):
            held.pop().continue_()
        event(page, "0w2").click()
        page.locator(".lanes .step.at", has_text="0w2").wait_for()
        assert [one["component"] for one in questions if one["ask"] == "play"] == ["valve", "valve"]
        assert page.get_by_role("heading", level=1).inner_text() == "The status-watermark valve"
        assert "#valve?" in page.url


@pytest.mark.parametrize(
    ("components", "number"),
    [(list(COMPONENTS)[::SPARSE], SAMPLE)]
    + [pytest.param([name], DRAWN, marks=pytest.mark.long) for name in COMPONENTS],
    ids=["some", *COMPONENTS],
)
def test_random_traces_are_shown_as_the_specification_has_them(play, components, number):
    with play("valve", VALVE) as page:
        # Everything is put on the page; that it is not painted ten thousand times makes it quick.
        page.evaluate("() => document.body.style.setProperty('display', 'none')")
        for name in components:
            cases = draw_small(name, number)
            assert len(cases) == number
            expected = [
                [where, [[one.event, one.observations, one.rules, one.state or "–"] for one in step_through(case)]]
                for where, case in cases.items()
            ]
            assert page.evaluate(COMPARE, expected)[:1] == []


def draw_small(component, number):
    """So many cases, by their places."""
    found = {}
    for index in range(20 * number):
        case = draw_case(component, "page", index)
        if is_small(case):
            found[place(component, encode(case.config), write_trace(component, case.events))] = case
        if len(found) == number:
            break
    return found


def is_small(case):
    """Not too long to be drawn, nor too large to be played."""
    try:
        config_of(case.model, encode(case.config))
    except PlayError:
        return False
    return 0 < len(case.events) <= MAX_DRAWN_EVENTS and len(repr(case)) < 20_000


def test_the_same_states_from_an_address_and_from_a_story(play):
    with play("valve", VALVE, SEVEN) as page:
        by_address = page.locator("#words").text_content()
        page.get_by_role("button", name="Clear").click()
        page.locator("[data-story=flush-skipped-for-a-stale-channel]").click()
        page.locator(".lanes .step.wrong").wait_for()
        assert page.locator("#words").text_content() == by_address
        assert page.locator("#trace").input_value() == SEVEN
        assert "active=no" in by_address


def test_undo_redo_branch_and_choose(play):
    with play("partitioner", {"kind": "shuffle", "channels": 2}, "r r") as page:
        page.locator("[data-outcome='1']").click()
        page.locator(".lanes .seen", has_text="send 1").wait_for()
        assert "choices=" in page.url
        page.keyboard.press("u")
        page.locator(".lanes .seen", has_text="send 1").wait_for(state="detached")
        page.keyboard.press("r")
        page.locator(".lanes .seen", has_text="send 1").wait_for()
        page.locator("[data-step='1']").click()
        page.locator(".palette", has_text="a branch").wait_for()
        event(page, "i").click()
        page.locator(".branches button", has_text="r r").click()
        page.locator(".branches button", has_text="r i").wait_for()
        assert page.locator("#trace").input_value() == "r r"
        page.get_by_role("button", name="Explore every state").click()
        page.locator(".explorer b", has_text=" states").wait_for()


def test_the_graph_of_all_states_is_walked_to_what_breaks(play):
    """From an address that explores, by clicks and keys alone; back by what leads here; then a shortest trace."""
    with play("valve", VALVE, "2i 0w2 1w1 0i 2a", {"explore": 3}) as page:
        page.locator(".neighbours").wait_for()
        heading = page.locator(".explorer h3", has_text="Walk")
        assert heading.inner_text().endswith("of 210, at depth 5")
        page.locator(".neighbours .node[aria-label^='1i to']").click()
        page.locator(".explorer h3", has_text="at depth 6").wait_for()
        assert page.locator(".layers [aria-current]").get_attribute("title").startswith("depth 6:")
        assert page.locator(".neighbours .node.broken").count() == 2
        shoot(page, "explorer-walk")
        assert serious_barriers(page) == []
        page.locator(".neighbours .node[aria-label^='2i to']").press("Enter")
        page.locator(".neighbours .node.at.broken").wait_for()
        assert page.locator("#trace").input_value() == "2i 0w2 1w1 0i 2a 1i 2i"
        assert "all-idle-puts-out-the-maximum" in page.get_by_role("alert").inner_text()
        page.locator(".neighbours .node[aria-label*='leads here']").first.click()
        page.locator(".neighbours .node.at:not(.broken)").wait_for()
        assert "explore=3" in page.url
        assert "210 states up to symmetry of channels" in page.locator(".explorer").inner_text()
        page.locator("[data-claim=no-pending-minimum]").click()
        page.locator(".lanes .step.wrong").wait_for()
        assert "no-pending-minimum" in page.get_by_role("alert").inner_text()


@pytest.mark.parametrize(("name", "cuts"), [("word-count", 0), ("two-checkpoints", 2)])
def test_a_run_of_a_job_is_drawn_in_space_and_time(play, name, cuts):
    story = next(one for one in stories("job") if one.name == name)
    rows = [
        encode(seen)
        for outcome in read_case("job", story.config, story.trace).follow()
        for seen in outcome.observations
    ]
    written, read = ([row for row in rows if row["dir"] == way] for way in ("out", "in"))
    with play("job", story.config, story.trace) as page:
        chart = page.locator(".lanes .spacetime")
        assert chart.locator(".mark").count() == len(rows)
        assert chart.locator(".travel").count() == len(written)
        assert chart.locator(".travel.waiting").count() == len(written) - len(read)
        assert chart.locator(".lane").count() == len({(row["task"], row["subtask"]) for row in rows})
        assert chart.locator(".cut").count() == cuts
        assert page.locator(".scene .part > b").all_text_contents() == name_parts(job_config(story))["subtask"]
        crossings = chart.evaluate(CROSSINGS)
        assert len(crossings) >= 3 * cuts
        assert all(abs(one["x"] - one["written"]) < 1 for one in crossings)
        assert page.locator(".lanes .bar").count() == 0, "of what is in the scene as well"
        page.get_by_role("button", name="parts of the state that change").click()
        page.locator(".lanes .bar").first.wait_for()
        page.get_by_role("button", name="Hide the parts").click()
        page.locator(".lanes .bar").first.wait_for(state="detached")
        shoot(page, f"job-{name}")
        channels = {(row["edge"], row["producer"], row["consumer"]) for row in rows}
        one = min(channels)
        width = float(chart.get_attribute("width"))
        page.locator("[data-filter=channel]").select_option("edge {}: {} to {}".format(*one))
        of_one = [row for row in rows if (row["edge"], row["producer"], row["consumer"]) == one]
        page.wait_for_function("(count) => document.querySelectorAll('.lanes .mark').length === count", arg=len(of_one))
        page.locator("[data-filter=zoom]").fill("2")
        page.wait_for_function(
            "(old) => Number(document.querySelector('.lanes .spacetime').getAttribute('width')) > old", arg=width
        )


#: Where each cut crosses the lane of a subtask that wrote its barrier, and where that barrier stands.
CROSSINGS = """(chart) => [...chart.querySelectorAll(".cut")].flatMap((cut) => {
  const checkpoint = cut.querySelector("title").textContent.replace("checkpoint ", "value ");
  const written = [...chart.querySelectorAll(".mark.barrier.out")]
    .filter((mark) => mark.textContent.includes(checkpoint))
    .map((mark) => mark.querySelector("rect")).map((rect) => [rect.x.baseVal.value + 2.5, rect.y.baseVal.value + 9]);
  return [...cut.querySelector("polyline").points].flatMap(({ x, y }) => {
    const here = written.filter((place) => Math.abs(place[1] - y) < 1).map((place) => place[0]);
    return here.length ? [{ x, written: Math.min(...here) }] : [];
  });
})"""


def job_config(story):
    return decode(story.config, COMPONENTS["job"].config)


#: Pictures by hand: a trace, and what must be seen of the state behind it.
SCENES = [
    ("gate", {"channels": 2}, "0data 0data 1data", ["channel 0", "data data next", "data 2nd", "serves 0 1"]),
    ("subpartition", {"exclusive": 2, "size_hint": 1024}, "view data:61 open:62", ["61 62…", "reader"]),
    ("deserializer", {}, "b00000002 b61", ["00 00 00 02 61 ··", "length 2: 1 of 2 bytes"]),
    ("barriers", {"kind": "aligned", "channels": 2, "finished_channels": True}, "0b1",
     ["barrier 1 held back", "flows", "checkpoint 1", "1 of 2 barriers"]),
    ("credit_loop", {"channels": 1, "exclusive": 1, "floating": 1, "data": 2, "barriers": 0, "output": 2}, "0write",
     ["sender 0", "receiver 0", "1 data and 0 barriers to come"]),
    ("mailbox", {"semantics": "flink-35051"}, "put1@0 urgent2@0", ["urgent 2 1", "loop"]),
    ("network_input", {"channels": 2, "semantics": "flink-1.17"}, "0b00000002 call 1over",
     ["00 00 00 02 ·· ·· length 2: 0 of 2 bytes", "gate serves 1"]),
    ("network_input", {"channels": 1, "semantics": "flink-1.17"}, "0over batch", ["channel 0 empty is over"]),
    ("channel_state", {"channels": 2}, "0d 1d 0u1", ["channel 0", "barrier 1"]),
]  # fmt: skip


def test_a_state_is_a_picture_of_the_thing_itself(play):
    with play("valve", VALVE) as page:
        for component, config, trace, words in SCENES:
            page.evaluate(VISIT, place(component, config, trace))
            shown = " ".join(page.locator(".scene").inner_text().split())
            assert [text for text in words if text not in shown] == [], (component, shown)


TOLD = [
    ("virtual_channels", "halves-of-two-records", ".lanes .step code", "buffer begun left"),
    ("alignment_group", "idle", ".lanes .seen i", "timestamp MAX"),
    ("chaining", "one-line", ".lanes .seen i", "operators [1,2,3]"),
]


def test_events_and_observations_are_told_in_words(play):
    with play("valve", VALVE) as page:
        for component, name, part, words in TOLD:
            story = next(one for one in stories(component) if one.name == name)
            page.evaluate(VISIT, place(component, story.config, story.trace))
            assert words in page.locator(part).all_text_contents()


GRAPHS = [("chaining", "diamond", 5, 3), ("job_graph", "keys-already-in-place", 3, 1)]


def test_a_graph_of_operators_is_drawn_with_its_tasks(play):
    with play("valve", VALVE) as page:
        for component, name, operators, chained in GRAPHS:
            story = next(one for one in stories(component) if one.name == name)
            page.evaluate(VISIT, place(component, story.config, story.trace))
            assert page.locator(".lanes .graph .operator").count() == operators
            assert page.locator(".lanes .graph .edge.chained").count() == chained
            shoot(page, f"graph-{component}")


def test_keys_walk_through_the_trace(play):
    """Step by step; or it walks by itself, and whoever does anything meanwhile stops it."""
    with play("valve", VALVE, SEVEN) as page:
        page.locator("body").press("Home")
        page.get_by_role("heading", name="At the start").wait_for()
        page.keyboard.press("ArrowRight")
        page.locator(".stepview h2", has_text="Step 1:").wait_for()
        assert "at=1" in page.url
        page.keyboard.press("End")
        page.locator(".stepview h2", has_text="Step 7:").wait_for()
        chip = page.locator(".rulelist .rule").first
        chip.focus()
        assert "Why:" in page.get_by_role("tooltip").inner_text()
        page.keyboard.press("Escape")
        assert page.get_by_role("tooltip").count() == 0
        page.clock.install()
        page.get_by_role("button", name="Play").click()
        page.get_by_role("heading", name="At the start").wait_for()
        for number in (1, 2):
            page.clock.run_for(PACE)
            page.locator(".stepview h2", has_text=f"Step {number}:").wait_for()
        page.keyboard.press("p")
        page.get_by_role("button", name="Play").wait_for()
        page.clock.run_for(2 * PACE)
        assert page.locator(".stepview h2").inner_text().startswith("Step 2:")
        page.keyboard.press("p")
        for number in range(3, 8):
            page.get_by_role("button", name="Pause").wait_for()
            page.clock.run_for(PACE)
            page.locator(".stepview h2", has_text=f"Step {number}:").wait_for()
        page.get_by_role("button", name="Play").wait_for()


def test_a_wrong_token_is_marked_and_is_a_text_and_can_be_corrected(play):
    with play("valve", VALVE) as page:
        page.locator("body").press("/")
        page.keyboard.type("0w1 0<b> 1i")
        page.keyboard.press("Enter")
        alert = page.get_by_role("alert")
        assert alert.locator("mark").inner_text() == "0<b>"
        assert "<channel>w<timestamp>" in alert.inner_text()
        page.locator("#trace").fill("0w1 1i")
        page.locator("#trace").press("Enter")
        page.locator(".stepview h2", has_text="Step 2:").wait_for()
        assert page.get_by_role("alert").count() == 0
        page.locator("[data-field=channels]").fill("0")
        page.locator("[data-field=channels]").press("Enter")
        assert "channels" in page.get_by_role("alert").inner_text()
        hostile = json.dumps({"type": '"><img/src=x/onerror=alert(1)></script>\u202e'}, separators=(",", ":"))
        page.evaluate(VISIT, place("valve", VALVE, f"0i {hostile}"))
        assert page.get_by_role("alert").locator("mark").inner_text() == hostile
        assert page.locator("#main img, #main script").count() == 0


SENSELESS = [
    ("#<img src=x onerror=alert(1)>", "no component"),
    ("#valve?config=%7B", "config is not JSON"),
    ("#valve?config=5", "config must be an object"),
    ("#valve?at=x", "at is not JSON"),
    ("#valve?evil=1", '"evil" is not a parameter'),
    ("#valve?compare=%3Cimg%3E", 'no semantics "<img>"'),
    ("#valve?config=%7B%22channels%22%3A0%7D", "channels"),
    ("#valve?config=%7B%22evil%22%3A1%7D", "evil"),
]


def test_an_address_without_sense_runs_nothing(open_page, playground):
    with open_page(playground + SENSELESS[0][0]) as page:
        for fragment, said in SENSELESS:
            page.evaluate("(fragment) => { location.hash = fragment; }", fragment)
            page.get_by_role("alert").get_by_text(said).wait_for()
            assert page.locator(".lanes, #main img").count() == 0


#: Each has a picture of another kind.
KINDS = ["job", "chaining", "virtual_channels", "barriers"]


@pytest.mark.parametrize(
    "components",
    [KINDS, pytest.param([name for name in COMPONENTS if name not in KINDS], marks=pytest.mark.long)],
    ids=["some", "others"],
)
def test_every_component_fits_and_everybody_can_use_it(play, components):
    with play("valve", VALVE, width=320, scheme="dark") as page:
        for name in components:
            story = stories(name)[0]
            page.evaluate(VISIT, place(name, story.config, story.trace))
            assert fits(page), name
            assert serious_barriers(page) == [], name


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_the_page_fits_and_everybody_can_use_it(play, width, scheme):
    with play("valve", VALVE, SEVEN, {"compare": "flink-40475"}, width=width, scheme=scheme) as page:
        assert fits(page)
        assert serious_barriers(page) == []
        shoot(page, f"playground-{width}-{scheme}")
