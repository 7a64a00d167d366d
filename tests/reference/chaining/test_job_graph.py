"""Job graphs: what is filled in, several inputs, virtual nodes, the order of vertices and outputs, shared results."""

import attrs
import pytest

from tests.reference.chaining.words import read_operator
from tests.reference.walking import begin, claim, walk
from tidegate.reference.chaining.chains import Exchange, Kind, Partitioner, Strategy
from tidegate.reference.chaining.job_graph import edges as job_edges
from tidegate.reference.chaining.job_graph import outputs as job_outputs
from tidegate.reference.chaining.job_graph import step as job_graph
from tidegate.reference.chaining.job_graph.edges import (
    PartitionNode,
    Request,
    Route,
    SideOutputNode,
    compute_route,
    compute_strategy,
)
from tidegate.reference.chaining.job_graph.outputs import Mode, NetworkOutput, Result
from tidegate.reference.chaining.job_graph.step import Config, JobEdge, JobGraph, JobOperator, JobVertex, Member
from tidegate.reference.model import InvalidInputError, Outcome, Rejected
from tidegate.reference.partitioning.wiring import Pattern

ON = Config(chaining=True, chain_different_max_parallelism=True, mode=Mode.ALL_EDGES_PIPELINED)


def operator(text):
    """`3 never wide`: operator 3 with what the words say."""
    return read_operator(text, lambda number, name: JobOperator(number, name, Kind.OPERATOR, 2))


def edge(text):
    """`1>2 #1 hash/batch !late`: input 1; by a partition node, then by a side output; `=d` keeps the result as d."""
    ends, *words = text.split()
    source, target = map(int, ends.split(">"))
    made = JobEdge(source, target)
    for word in words:
        if word[0] == "#":
            made = attrs.evolve(made, input=int(word[1:]))
        elif word[0] == "=":
            made = attrs.evolve(made, dataset=word[1:])
        else:
            made = attrs.evolve(made, via=(*made.via, virtual(word)))
    return made


def virtual(word):
    if word[0] == "!":
        return SideOutputNode(word[1:])
    partitioner, _, exchange = word.partition("/")
    return PartitionNode(Partitioner(partitioner), Exchange(exchange or "undefined"))


def graph(operators, edges=""):
    return JobGraph(tuple(map(operator, operators.split(", "))), tuple(map(edge, edges.split(", "))) if edges else ())


def run(operators, edges="", **config):
    (outcome,) = walk("job_graph", attrs.evolve(ON, **config), (graph(operators, edges),))
    return outcome


def names(operators, edges="", **config):
    return [seen.name for seen in run(operators, edges, **config).observations if isinstance(seen, JobVertex)]


def outputs(operators, edges="", **config):
    return [seen for seen in run(operators, edges, **config).observations if isinstance(seen, NetworkOutput)]


def test_a_job_whole():
    outcome = run("1 source max, 2, 3 wide", "1>2, 2>3 !late")
    assert outcome.observations == (
        JobVertex(3, "n3", 3, -1, (Member(3, 1),)),
        JobVertex(1, "n1 -> n2", 2, 8, (Member(1, 1), Member(2, 2))),
        NetworkOutput(
            1, 2, Partitioner.REBALANCE, Pattern.ALL_TO_ALL, Result.PIPELINED_BOUNDED, consumers=(3,), tag="late"
        ),
    )
    assert outcome.rules == (
        *("CHAIN-10", "CHAIN-6", "CHAIN-7", "CHAIN-19", "CHAIN-20", "CHAIN-18"),
        *("CHAIN-28", "CHAIN-15", "CHAIN-14", "CHAIN-23", "CHAIN-24", "CHAIN-21", "CHAIN-26"),
    )


# --- the decision ---------------------------------------------------------------------------------------------


@pytest.mark.rule("CHAIN-2")
@pytest.mark.parametrize("operators", ["1 source, 2 empty", "1 source empty, 2"])
def test_chain_2_a_node_without_an_operator_is_not_chained(operators):
    outcome = run(operators, "1>2")
    assert [seen.name for seen in outcome.observations if isinstance(seen, JobVertex)] == ["n2", "n1"]
    assert outcome.rules[0] == "CHAIN-2"


@pytest.mark.rule("CHAIN-12", "CHAIN-17", "CHAIN-20")
def test_chain_12_each_source_needs_an_input_of_its_own():
    operators = "1 source, 2 source, 3 source, 4 with_sources"
    assert names(operators, "1>4 #0, 2>4 #1, 3>4 #2") == ["n4 [n1, n2, n3]"]
    assert names(operators, "3>4 #2, 1>4 #0, 2>4 #1") == ["n4 [n3, n1, n2]"]
    assert names(operators, "1>4 #0, 2>4 #1, 3>4 #1") == ["n4 [n1]", "n2", "n3"]
    assert names(operators, "1>4, 2>4, 3>4") == ["n4", "n1", "n2", "n3"]
    assert run(operators, "1>4 #0, 2>4 #1, 3>4 #1").rules[0] == "CHAIN-12"


@pytest.mark.rule("CHAIN-1", "CHAIN-12")
def test_chain_1_several_inputs_are_several_edges():
    assert names("1 source, 2, 3", "1>2, 2>3 #0, 2>3 #1") == ["n3", "n1 -> n2"]


@pytest.mark.rule("CHAIN-17", "CHAIN-21")
def test_chain_17_a_source_goes_in_beside_a_network_input():
    outcome = run("1 source, 2 source, 3, 4 with_sources, 5", "1>3, 3>4 #0, 2>4 #1, 4>5")
    assert outcome.observations == (
        JobVertex(4, "n4 [n2] -> n5", 2, -1, (Member(2, 0), Member(4, 1), Member(5, 2))),
        JobVertex(1, "n1 -> n3", 2, -1, (Member(1, 1), Member(3, 2))),
        NetworkOutput(1, 3, Partitioner.FORWARD, Pattern.POINTWISE, Result.PIPELINED_BOUNDED, (4,)),
    )


@pytest.mark.rule("CHAIN-9")
def test_chain_9_a_hash_that_is_not_needed_is_chained_in_batch_too():
    kind = "forward_for_consecutive_hash"
    assert names("1 source, 2", f"1>2 {kind}/batch") == ["n1 -> n2"]
    assert names("1 source, 2", "1>2 forward/hybrid_full") == ["n1 -> n2"]
    # Where it cannot be chained it is the hash that it stands for.
    (output,) = outputs("1 source, 2 head", f"1>2 {kind}")
    assert (output.partitioner, output.pattern) == (Partitioner.HASH, Pattern.ALL_TO_ALL)
    (output,) = outputs("1 source, 2 wide", f"1>2 {kind}")
    assert output.partitioner is Partitioner.HASH


# --- what is filled in ----------------------------------------------------------------------------------------


@pytest.mark.rule("CHAIN-14")
def test_chain_14_defaults():
    assert {kind: compute_strategy(kind) for kind in Kind} == {
        Kind.SOURCE: Strategy.ALWAYS,
        Kind.LEGACY_SOURCE: Strategy.HEAD,
        Kind.OPERATOR: Strategy.ALWAYS,
    }
    assert compute_strategy(Kind.OPERATOR, Request.START_NEW_CHAIN) is Strategy.HEAD
    assert compute_strategy(Kind.OPERATOR, Request.DISABLE_CHAINING) is Strategy.NEVER
    assert compute_strategy(Kind.OPERATOR, wraps_function=False) is Strategy.ALWAYS
    assert compute_strategy(Kind.OPERATOR, wraps_function=False, release="1.5") is Strategy.HEAD
    assert "CHAIN-14" in run("1 legacy").rules
    assert "CHAIN-14" not in run("1 source head").rules


@pytest.mark.rule("CHAIN-15")
def test_chain_15_an_edge_nobody_described():
    assert names("1 source, 2", "1>2") == ["n1 -> n2"]
    (output,) = outputs("1 source, 2 head", "1>2")
    assert output.partitioner is Partitioner.FORWARD
    (output,) = outputs("1 source, 2 wide", "1>2")
    assert output.partitioner is Partitioner.REBALANCE


@pytest.mark.rule("CHAIN-15")
def test_chain_15_forward_between_unequal_parallelism_is_refused():
    for edges in ("1>2 forward", "1>2 rebalance forward"):
        outcome = run("1 source, 2 wide", edges)
        assert (outcome.observations, outcome.rules) == ((Rejected(),), ("CHAIN-15",))
    # Overruled by the partitioner nearer to the consumer it is harmless.
    assert names("1 source, 2 wide", "1>2 forward rebalance") == ["n2", "n1"]


@pytest.mark.rule("CHAIN-16")
@pytest.mark.parametrize(
    ("via", "expected"),
    [
        ("", Route()),
        ("hash/batch", Route(Partitioner.HASH, Exchange.BATCH)),
        ("hash/batch rescale/pipelined", Route(Partitioner.RESCALE, Exchange.BATCH)),
        ("hash/pipelined rescale", Route(Partitioner.RESCALE, Exchange.PIPELINED)),
        ("hash rescale/batch", Route(Partitioner.RESCALE, Exchange.UNDEFINED)),
        ("!a hash/batch !b", Route(Partitioner.HASH, Exchange.BATCH, "b")),
        ("!a !", Route(tag="")),
    ],
)
def test_chain_16_partitioner_nearest_to_the_consumer_exchange_nearest_to_the_producer(via, expected):
    assert compute_route(tuple(map(virtual, via.split()))) == expected


# --- vertices and outputs -------------------------------------------------------------------------------------


@pytest.mark.rule("CHAIN-18")
def test_chain_18_chained_edges_are_followed_first_and_consumers_completed_first():
    edges = "1>2 rebalance, 1>4, 4>5 rebalance, 3>6"
    assert names("3 source, 1 source, 2, 4, 5, 6", edges) == ["n5", "n2", "n1 -> n4", "n3 -> n6"]
    assert names("9 source, 2 source, 3 with_sources, 4 head", "9>3, 2>4") == ["n4", "n2", "n3 [n9]"]


@pytest.mark.rule("CHAIN-21")
def test_chain_21_siblings_share_an_index():
    (vertex,) = run("1 source, 2, 3, 4", "1>2, 1>3, 3>4").observations
    assert vertex.members == (Member(1, 1), Member(2, 2), Member(3, 2), Member(4, 3))


@pytest.mark.rule("CHAIN-22")
def test_chain_22_outputs_of_chained_operators_come_before_the_operators_own():
    edges = "1>9 hash, 1>2, 2>8 hash, 1>3, 3>7 hash, 2>4, 4>6 hash, 1>5 rescale"
    order = [(one.operator, one.consumers) for one in outputs("1 source, 2, 3, 4, 5, 6, 7, 8, 9", edges)]
    assert order == [(4, (6,)), (2, (8,)), (3, (7,)), (1, (9,)), (1, (5,))]


@pytest.mark.rule("CHAIN-23")
def test_chain_23_patterns():
    pointwise = {kind for kind in Partitioner if job_outputs.compute_pattern(kind) is Pattern.POINTWISE}
    assert pointwise == {Partitioner.FORWARD, Partitioner.RESCALE}


@pytest.mark.rule("CHAIN-24")
@pytest.mark.parametrize(
    ("edges", "mode", "expected"),
    [
        ("1>2 hash", Mode.ALL_EDGES_PIPELINED, Result.PIPELINED_BOUNDED),
        ("1>2 hash", Mode.ALL_EDGES_PIPELINED_APPROXIMATE, Result.PIPELINED_APPROXIMATE),
        ("1>2 hash", Mode.ALL_EDGES_BLOCKING, Result.BLOCKING),
        ("1>2 hash =d", Mode.ALL_EDGES_BLOCKING, Result.BLOCKING_PERSISTENT),
        ("1>2 hash =d", Mode.ALL_EDGES_PIPELINED, Result.PIPELINED_BOUNDED),
        ("1>2 hash", Mode.ALL_EDGES_HYBRID_FULL, Result.HYBRID_FULL),
        ("1>2 hash", Mode.ALL_EDGES_HYBRID_SELECTIVE, Result.HYBRID_SELECTIVE),
        ("1>2 broadcast", Mode.ALL_EDGES_HYBRID_SELECTIVE, Result.HYBRID_FULL),
        ("1>2 forward", Mode.FORWARD_EDGES_PIPELINED, Result.PIPELINED_BOUNDED),
        ("1>2 rescale", Mode.FORWARD_EDGES_PIPELINED, Result.BLOCKING),
        ("1>2 rescale", Mode.POINTWISE_EDGES_PIPELINED, Result.PIPELINED_BOUNDED),
        ("1>2 hash", Mode.POINTWISE_EDGES_PIPELINED, Result.BLOCKING),
        ("1>2 hash/pipelined", Mode.ALL_EDGES_BLOCKING, Result.PIPELINED_BOUNDED),
        ("1>2 hash/batch", Mode.ALL_EDGES_PIPELINED, Result.BLOCKING),
        ("1>2 hash/hybrid_selective", Mode.ALL_EDGES_BLOCKING, Result.HYBRID_SELECTIVE),
    ],
)
def test_chain_24_the_edge_decides_or_else_the_job(edges, mode, expected):
    (output,) = outputs("1 source never, 2", edges, mode=mode)
    assert output.result is expected


@pytest.mark.rule("CHAIN-25")
@pytest.mark.parametrize(
    ("operators", "edges", "consumers"),
    [
        ("2, 3", "1>2 hash/batch, 1>3 hash/batch", [(2, 3)]),
        ("2, 3", "1>2 hash/pipelined, 1>3 hash/pipelined", [(2,), (3,)]),
        ("2, 3", "1>2 hash/batch, 1>3 rebalance/batch", [(2,), (3,)]),
        ("2, 3 wide", "1>2 hash/batch, 1>3 hash/batch", [(2,), (3,)]),
        ("2, 3 max", "1>2 hash/batch, 1>3 hash/batch", [(2,), (3,)]),
        ("2, 3", "1>2 hash/batch !a, 1>3 hash/batch", [(2,), (3,)]),
        ("2, 3", "1>2 hash/batch !a, 1>3 hash/batch !a", [(2, 3)]),
        ("2, 3", "1>2 hash/batch =d, 1>3 hash/batch =d", [(2, 3)]),
        ("2, 3", "1>2 hash/batch =d, 1>3 hash/batch =e", [(2,), (3,)]),
        ("2, 3", "1>2 hash/batch, 1>3 hash/hybrid_full", [(2,), (3,)]),
        ("2", "1>2 hash/batch, 1>2 hash/batch", [(2, 2)]),
        ("2, 3, 4", "1>2 hash/batch, 1>4 global/batch, 1>3 hash/batch", [(2, 3), (4,)]),
    ],
)
def test_chain_25_results_that_can_be_read_again_are_shared(operators, edges, consumers):
    shared = outputs(f"1 source, {operators}", edges, mode=Mode.ALL_EDGES_BLOCKING)
    assert [one.consumers for one in shared] == consumers


@pytest.mark.rule("CHAIN-25")
def test_chain_25_a_shared_hybrid_result_is_kept_in_full():
    job = {"operators": "1 source, 2, 3", "mode": Mode.ALL_EDGES_BLOCKING}
    (output,) = outputs(edges="1>2 hash/hybrid_selective, 1>3 hash/hybrid_selective", **job)
    assert (output.result, output.consumers) == (Result.HYBRID_FULL, (2, 3))
    (output,) = outputs(edges="1>2 hash/hybrid_selective, 1>3 hash/hybrid_full", **job)
    assert output.result is Result.HYBRID_FULL


@pytest.mark.rule("CHAIN-26")
def test_chain_26_a_vertex_has_the_numbers_of_its_head():
    (vertex,) = run("1 source, 2 max", "1>2").observations
    assert (vertex.parallelism, vertex.max_parallelism) == (2, -1)


@pytest.mark.rule("CHAIN-27")
@pytest.mark.parametrize("timeout", ["timeout", "timeout_0"])
def test_chain_27_a_blocking_output_with_a_buffer_timeout_is_refused(timeout):
    for edges in ("1>2 hash/batch", "1>2 forward/batch", "1>2 hash/batch =d"):
        outcome = run(f"1 source {timeout}, 2", edges)
        assert (outcome.observations, outcome.rules) == ((Rejected(),), ("CHAIN-27",))
    # The timeout of the consumer does not matter, nor does any timeout on what is not blocking.
    assert names(f"1 source, 2 {timeout}", "1>2 hash/batch") == ["n2", "n1"]
    assert names(f"1 source {timeout}, 2", "1>2 hash/hybrid_full", mode=Mode.ALL_EDGES_BLOCKING) == ["n2", "n1"]
    assert names(f"1 source {timeout}, 2", "1>2 hash") == ["n2", "n1"]


@pytest.mark.rule("CHAIN-28")
def test_chain_28_a_side_output_is_chained_like_any_other_edge():
    assert names("1 source, 2, 3", "1>2 !late, 1>3") == ["n1 -> (n2, n3)"]
    assert names("1 source, 2 source, 3 with_sources", "1>3 !late #0, 2>3 #1") == ["n3 [n1, n2]"]


@pytest.mark.rule("CHAIN-38")
@pytest.mark.parametrize(
    ("operators", "edges", "mode", "is_refused"),
    [
        ("1 source, 2", "1>2 hash/hybrid_full", Mode.ALL_EDGES_PIPELINED, True),
        ("1 source, 2", "1>2 hash/hybrid_selective", Mode.ALL_EDGES_PIPELINED_APPROXIMATE, True),
        ("1 source, 2", "1>2 hash/hybrid_full", Mode.FORWARD_EDGES_PIPELINED, False),
        ("1 source, 2", "1>2 forward/hybrid_full", Mode.ALL_EDGES_PIPELINED, False),
        ("1 source, 2", "1>2 hash", Mode.ALL_EDGES_HYBRID_FULL, False),
        ("1 source, 2 other_group", "1>2 hash", Mode.ALL_EDGES_HYBRID_FULL, True),
        ("1 source, 2 other_group", "1>2 hash", Mode.ALL_EDGES_HYBRID_SELECTIVE, True),
        ("1 source, 2 other_group", "1>2 hash", Mode.ALL_EDGES_BLOCKING, False),
    ],
)
def test_chain_38_hybrid_results_are_for_batch_jobs_that_share_their_slots(operators, edges, mode, is_refused):
    outcome = run(operators, edges, mode=mode)
    assert (outcome.observations == (Rejected(),)) == is_refused == (outcome.rules == ("CHAIN-38",))


@pytest.mark.rule("CHAIN-15")
@pytest.mark.parametrize(
    ("edges", "extension", "partitioner"),
    [
        ("1>2", None, Partitioner.FORWARD),
        ("1>2", "dynamic", Partitioner.RESCALE),
        ("1>2 !late", "dynamic", Partitioner.RESCALE),
        ("1>2 forward", "dynamic", Partitioner.FORWARD),
        ("1>2 hash", "dynamic", Partitioner.HASH),
    ],
)
def test_chain_15_an_edge_that_nobody_described_in_a_dynamic_graph(edges, extension, partitioner):
    (output,) = outputs("1 source never, 2", edges, mode=Mode.ALL_EDGES_BLOCKING, extension=extension)
    assert output.partitioner is partitioner
    assert names("1 source, 2", "1>2", mode=Mode.ALL_EDGES_BLOCKING, extension=extension) == ["n1 -> n2"]


# --- what is no graph -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operators", "edges"),
    [
        ("1 source, 1", "1>1"),
        ("1 source, 2", "1>3"),
        ("1 source, 2 source", "1>2"),
        ("1 source, 2", ""),
        ("1 source, 2, 3", "1>2, 2>3, 3>2"),
        ("1 source yielding", ""),
        ("1 source, 2", "1>2 #-1"),
    ],
)
def test_what_is_no_graph_is_no_input(operators, edges):
    with pytest.raises(InvalidInputError):
        graph(operators, edges)


# --- claims, told of what is wrong ----------------------------------------------------------------------------

OPERATORS = (JobOperator(1, "1", Kind.SOURCE, 1), JobOperator(2, "2", Kind.OPERATOR, 1))


def make_vertex(*ids):
    return JobVertex(ids[0], "", 1, -1, tuple(Member(one, 1) for one in ids))


@pytest.mark.parametrize(("vertex", "consumer", "is_right"), [(1, 2, True), (2, 1, False), (1, 1, False)])
def test_a_vertex_is_complete_after_those_that_read_from_it(vertex, consumer, is_right):
    output = NetworkOutput(vertex, vertex, Partitioner.HASH, Pattern.ALL_TO_ALL, Result.PIPELINED_BOUNDED, (consumer,))
    outcome = Outcome(begin("job_graph", ON), (make_vertex(2), make_vertex(1), output), ())
    graph = JobGraph(OPERATORS, (JobEdge(1, 2),))
    assert claim("job_graph", "consumers-are-completed-first")(begin("job_graph", ON), graph, outcome) == is_right


def test_a_graph_that_is_cut_by_its_tags_is_refused(monkeypatch):
    tagged = JobGraph(OPERATORS, (JobEdge(1, 2, via=(SideOutputNode("late"),)),))
    right = job_graph.step
    (outcome,) = right(begin("job_graph", ON), tagged)
    assert claim("job_graph", "tags-do-not-chain")(begin("job_graph", ON), tagged, outcome)

    def cut_tagged(state, graph):
        if any(edge.via for edge in graph.edges):
            return (Outcome(state, (make_vertex(2), make_vertex(1)), ()),)
        return right(state, graph)

    monkeypatch.setattr(job_graph, "step", cut_tagged)
    (outcome,) = cut_tagged(begin("job_graph", ON), tagged)
    assert not claim("job_graph", "tags-do-not-chain")(begin("job_graph", ON), tagged, outcome)


def test_a_source_that_nobody_configured_can_be_chained_to(monkeypatch):
    right = job_edges.compute_strategy
    never = {Kind.SOURCE: Strategy.NEVER}
    monkeypatch.setattr(
        job_edges, "compute_strategy", lambda kind, *more, **named: never.get(kind) or right(kind, *more, **named)
    )
    assert not claim("job_graph", "chaining-is-the-default")("2.3", Request.NOTHING, "function", (1,))


# --- virtual nodes --------------------------------------------------------------------------------------------

HASH, REBALANCE = (
    PartitionNode(Partitioner.HASH, Exchange.PIPELINED),
    PartitionNode(Partitioner.REBALANCE, Exchange.BATCH),
)
LATE, ODD = SideOutputNode("late"), SideOutputNode("odd")
RIGHT = job_edges.compute_route


def change_route(**change):
    def compute(via):
        route = RIGHT(via)
        return Route(**{"partitioner": route.partitioner, "exchange": route.exchange, "tag": route.tag, **change})

    return compute


def from_the_other_end(*names):
    """Some of a route as if the edge was walked from its producer to its consumer."""

    def compute(via):
        route, turned = RIGHT(via), RIGHT(via[::-1])
        turned = {
            name: getattr(turned if name in names else route, name) for name in ("partitioner", "exchange", "tag")
        }
        return Route(**turned)

    return compute


def drop_partitioner_at_tag(via):
    """A wrong walk that forgets the partitioner where it meets a tag."""
    route = RIGHT(via)
    return Route(None, route.exchange, route.tag) if LATE in via else route


@pytest.mark.parametrize(
    ("wrong", "via", "node"),
    [
        (change_route(tag=None), (), LATE),
        (change_route(tag="odd"), (), LATE),
        (from_the_other_end("tag"), (ODD,), LATE),
        (from_the_other_end("partitioner"), (HASH,), REBALANCE),
        (from_the_other_end("exchange"), (HASH,), REBALANCE),
        (from_the_other_end("partitioner", "exchange"), (HASH,), REBALANCE),
        (drop_partitioner_at_tag, (HASH,), LATE),
        (change_route(partitioner=Partitioner.SHUFFLE), (HASH,), REBALANCE),
    ],
    ids=["no tag", "another tag", "last tag", "last partitioner", "first exchange", "both", "forgets", "another"],
)
def test_a_route_that_is_walked_otherwise_is_refused(monkeypatch, wrong, via, node):
    holds = claim("job_graph", "virtual-nodes-count-from-both-ends")
    assert holds(via, node)
    monkeypatch.setattr(job_edges, "compute_route", wrong)
    assert not holds(via, node)


# --- the rules that a graph names -------------------------------------------------------------------------------


def compute_rules(*more, edges):
    (outcome,) = walk("job_graph", ON, (JobGraph((*OPERATORS, *more), edges),))
    return set(outcome.rules)


def test_a_rule_is_named_as_soon_as_one_edge_or_operator_makes_use_of_it():
    more = JobOperator(3, "3", Kind.OPERATOR, 2), JobOperator(4, "4", Kind.OPERATOR, 1, strategy=Strategy.HEAD)
    edges = JobEdge(1, 2, via=(REBALANCE, LATE)), JobEdge(1, 3), JobEdge(2, 4)
    used = {"CHAIN-14", "CHAIN-15", "CHAIN-16", "CHAIN-22", "CHAIN-25", "CHAIN-28"}
    assert used <= compute_rules(*more, edges=edges)
    two = compute_rules(more[0], edges=edges[:2])
    assert used <= two


def test_rules_that_nothing_makes_use_of_are_not_named():
    rules = compute_rules(edges=(JobEdge(1, 2, via=(HASH,)),))
    assert not rules & {"CHAIN-15", "CHAIN-16", "CHAIN-22", "CHAIN-25", "CHAIN-28"}
    assert rules >= {"CHAIN-14", "CHAIN-23", "CHAIN-24"}
