"""Which results the network edges of a job make, and which of them share one: CHAIN-23, CHAIN-24, CHAIN-25."""

from tidegate.conformance.engines.graphs import Edge
from tidegate.conformance.engines.museum.job_graph.program import Wishes

_OF_EXCHANGE = {
    "pipelined": "pipelined_bounded",
    "batch": "blocking",
    "hybrid_full": "hybrid_full",
    "hybrid_selective": "hybrid_selective",
}
_OF_MODE = {
    "all_edges_pipelined": "pipelined_bounded",
    "all_edges_pipelined_approximate": "pipelined_approximate",
    "all_edges_blocking": "blocking",
    "all_edges_hybrid_full": "hybrid_full",
    "all_edges_hybrid_selective": "hybrid_selective",
}


class Results:
    def __init__(self, mode: str, bug: str) -> None:
        self.mode = mode
        self.bug = bug
        #: edges that are forward only as long as they are chained
        self.unasked: set[Edge] = set()

    def name_partitioner(self, edge: Edge) -> str:
        """On the network there is no hash that is in place already."""
        if edge.partitioner == "forward_for_consecutive_hash":
            return "forward" if self.bug == "consecutive-hash-goes-forward" else "hash"
        return "rescale" if edge in self.unasked else edge.partitioner

    def get_pattern(self, edge: Edge) -> str:
        bug = self.bug
        pointwise = {"forward", "rescale"}
        if bug == "rescale-to-all":
            pointwise = {"forward"}
        elif bug == "forward-to-all":
            pointwise = {"rescale"}
        elif bug == "rebalance-pointwise":
            pointwise = {"forward", "rescale", "rebalance"}
        return "pointwise" if self.name_partitioner(edge) in pointwise else "all_to_all"

    def get_result(self, edge: Edge, wishes: Wishes) -> str:
        bug = self.bug
        result = self.get_result_of_mode(edge)
        is_asked = edge.exchange != "undefined"
        if is_asked and not (bug == "job-beats-edge" and self.mode != "all_edges_pipelined"):
            result = _OF_EXCHANGE[edge.exchange]
        if result == "blocking" and wishes.dataset is not None and bug != "kept-result-not-persistent":
            return "blocking_persistent"
        if result == "hybrid_selective" and edge.partitioner == "broadcast" and bug != "broadcast-stays-selective":
            return "hybrid_full"
        return result

    def get_result_of_mode(self, edge: Edge) -> str:
        bug = self.bug
        if bug == "approximate-is-bounded" and self.mode == "all_edges_pipelined_approximate":
            return "pipelined_bounded"
        if self.mode in _OF_MODE:
            return _OF_MODE[self.mode]
        only_forward = self.mode == "forward_edges_pipelined"
        if bug == "forward-mode-pipelines-rescale":
            only_forward = False
        elif bug == "pointwise-mode-blocks-rescale":
            only_forward = True
        partitioner = "rescale" if edge in self.unasked else edge.partitioner
        pipelined = partitioner == "forward" if only_forward else partitioner in {"forward", "rescale"}
        return "pipelined_bounded" if pipelined else "blocking"

    def get_group(self, edge: Edge, wishes: Wishes) -> object:
        """Edges of one operator with the same group share an output; none: with nobody."""
        bug = self.bug
        result = self.get_result(edge, wishes)
        if result.startswith("pipelined") and bug != "pipelined-shared":
            return None
        if bug == "blocking-not-shared" and result.startswith("blocking"):
            return None
        family = "hybrid" if result.startswith("hybrid") and bug != "hybrids-kept-apart" else result
        group = {
            "partitioner": self.name_partitioner(edge),
            "parallelism": edge.target.parallelism,
            "max-parallelism": edge.target.max_parallelism,
            "dataset": wishes.dataset,
            "tag": wishes.tag,
        }
        group.pop(bug.removeprefix("shared-whatever-the-"), None)
        return family, tuple(group.values())

    def get_shared_result(self, edge: Edge, wishes: Wishes, readers: int) -> str:
        result = self.get_result(edge, wishes)
        if result == "hybrid_selective" and readers > 1 and self.bug != "shared-stays-selective":
            return "hybrid_full"
        return result
