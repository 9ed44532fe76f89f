"""What the labels of the public incidents mean: the one place that reads their words.

Hypotheses, ranks and claims are predicates on a diagnosis; Q_ ids are sets of our questions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from latecomer.service.diagnosis.schemas import Diagnosis, Scope

Predicate = Callable[[Diagnosis], bool]
NAMED = ("probable", "established")
OPEN = ("insufficient_evidence", "undetermined", "healthy")
ABSTAINS = ("insufficient_evidence", None)
"""Hypotheses that mean: name no cause."""
STRAGGLERS = ("rank", "set", "rotating")

QUESTIONS: Mapping[str, frozenset[str]] = {
    "Q_ARRIVAL": frozenset({"arrivals"}),
    "Q_PHASE": frozenset({"phase"}),
    "Q_ALL_LOGS": frozenset({"last_log_lines"}),
    "Q_NCCL_DEBUG": frozenset({"nccl_debug"}),
    "Q_TOPO": frozenset({"topology"}),
    "Q_NCCL_TESTS": frozenset({"link_benchmark"}),
    "Q_SCALE": frozenset({"scale"}),
    "Q_TIMING": frozenset({"timing", "timestamp_meaning", "added_synchronisation"}),
    "Q_TRACE": frozenset({"trace"}),
    "Q_DATA_TIME": frozenset({"data_wait", "stage_times"}),
    "Q_STORAGE": frozenset({"storage"}),
    "Q_CPU": frozenset({"cpu_cores"}),
    "Q_BATCHES": frozenset({"equal_batches"}),
    "Q_SAME_OPS": frozenset({"same_operations"}),
    "Q_WORK": frozenset({"work_equality", "work", "sizes"}),
    "Q_DEVICE": frozenset({"device_state"}),
    "Q_SWAP": frozenset({"follows"}),
    "Q_REPRO": frozenset({"reproducible"}),
    "Q_VERSIONS": frozenset({"versions"}),
    "Q_STACK": frozenset({"stacks"}),
    "Q_MEMORY": frozenset({"memory"}),
    "Q_COMPILE": frozenset({"compile"}),
    "Q_P2P": frozenset({"peer_access"}),
    "Q_CONFIG": frozenset({"configuration"}),
}


def named_causes(found: Diagnosis) -> set[str]:
    """Every cause that a scope names with `probable` or more."""
    return {s.causes[0].cause for s in found.scopes if s.verdict in NAMED}


def allowed(hypothesis: str | None, found: Diagnosis) -> bool:
    """Whether the verdict is one the label allows. `mixed`: several causes named, or none."""
    named = named_causes(found)
    if hypothesis in ABSTAINS:
        return found.verdict in OPEN and not named
    if hypothesis == "mixed":
        return len(named) != 1
    return hypothesis in named


def ranks_fit(rank: object, kind: str, found: Diagnosis) -> bool:
    """Whether no rank is named beside those of the label; a rank in words allows what the verdict allows."""
    named = {rank for s in found.scopes if s.verdict in NAMED for rank in s.ranks}
    if kind in ("one", "many"):
        expected = {rank} if isinstance(rank, int) else set(rank) if isinstance(rank, list) else set()
        return named <= expected
    return kind != "none" or not any(s.kind in STRAGGLERS and s.verdict in NAMED for s in found.scopes)


def asked(label: str, questions: Sequence[str]) -> bool:
    """Whether one of the questions is the one that the label means."""
    return not QUESTIONS[label].isdisjoint(questions)


# ---- claims ----------------------------------------------------------------------------------------------


def claims(text: str, found: Diagnosis) -> bool:
    """Whether a diagnosis claims what must not be claimed. Raises KeyError for a claim nobody has read yet."""
    return CLAIMS[text](found)


def names(cause: str, mechanism: str | None = None) -> Predicate:
    """A scope names the cause, and the mechanism where one is given."""

    def holds(found: Diagnosis) -> bool:
        top = [s.causes[0] for s in found.scopes if s.verdict in NAMED]
        return any(c.cause == cause and mechanism in (None, c.mechanism) for c in top)

    return holds


def confirms(cause: str, mechanism: str | None = None) -> Predicate:
    """A scope holds the cause for established."""

    def holds(found: Diagnosis) -> bool:
        top = [s.causes[0] for s in found.scopes if s.verdict == "established"]
        return any(c.cause == cause and mechanism in (None, c.mechanism) for c in top)

    return holds


def holds_responsible(*ranks: int) -> Predicate:
    """A verdict names one of the ranks; as rank:N of a late rank also while its cause is open."""

    def judged(scope: Scope) -> bool:
        return scope.verdict in NAMED or (scope.kind in STRAGGLERS and scope.verdict != "insufficient_evidence")

    return lambda found: any(judged(s) and not set(ranks).isdisjoint(s.ranks) for s in found.scopes)


def straggles(found: Diagnosis) -> bool:
    """Some rank or set of ranks is held to be late."""
    return any(s.kind in STRAGGLERS and s.verdict != "insufficient_evidence" for s in found.scopes)


def says(pattern: str) -> Predicate:
    """The conclusion, or a finding behind it, says so (for claims that are no cause of ours)."""
    form = re.compile(pattern, re.IGNORECASE)
    return lambda found: bool(form.search(" ".join((found.headline, *(w.text for w in found.why)))))


def both(first: Predicate, second: Predicate) -> Predicate:
    """Two claims at once."""
    return lambda found: first(found) and second(found)


def either(*some: Predicate) -> Predicate:
    """One of several claims."""
    return lambda found: any(claim(found) for claim in some)


LIBRARY = says(r"\b(bug|defect) (of|in) (the )?(nccl|library)|nccl (bug|defect)|library (bug|defect)")
STORAGE = either(names("input_delay", "slow_source"), names("uniform_input_bound", "slow_source"))
DIVERGES = names("collective_divergence")
CLAIMS: Mapping[str, Predicate] = {
    **{
        cause: names(cause)
        for cause in (
            "collective_divergence", "communication_limit", "compute_imbalance", "device_health", "host_stall",
            "input_delay",
        )
    },
    "NCCL bug": LIBRARY,
    "a fixed rank is bad": lambda found: any(s.kind in ("rank", "set") and s.verdict in NAMED for s in found.scopes),
    "all links are equal": says(r"links are (all )?(equal|alike|the same)"),
    "any straggler": straggles,
    "backward is the bottleneck": names("compute_imbalance"),
    "balanced": says(r"\b(work|load) is (balanced|equal)"),
    "bucket size is the cause": says(r"bucket size is|larger buckets? would"),
    "checkpoint storage is slow": names("host_stall", "checkpoint"),
    "chunk count divergence": DIVERGES,
    "communication_limit for the whole job": lambda found: any(
        s.kind == "common" and s.verdict in NAMED and s.causes[0].cause == "communication_limit" for s in found.scopes
    ),
    "confirmed storage fault": either(
        confirms("input_delay"), confirms("uniform_input_bound"), confirms("host_stall"), STORAGE
    ),
    "confirmed without link numbers": confirms("communication_limit"),
    "cpu_contention_confirmed": confirms("host_stall", "cpu_contention"),
    "data loader": either(names("input_delay"), names("uniform_input_bound")),
    "deadlock is certain": lambda found: bool(named_causes(found)),
    "device_health (PCIe downgrade)": names("device_health"),
    "device_health explains all of the slowness": either(names("device_health"), confirms("device_health")),
    "device_health of card 0": both(names("device_health"), holds_responsible(0)),
    "device_health of one rank": names("device_health"),
    "disk full is the cause": either(STORAGE, names("host_stall"), says(r"disk .{0,20}(cause|full is)")),
    "failed_worker confirmed": confirms("failed_worker"),
    "framework regression": says("regression"),
    "hardware anomaly": names("device_health"),
    "host_stall (waiting will not end it)": names("host_stall"),
    "host_stall at epoch end": names("host_stall"),
    "host_stall from the residual": names("host_stall"),
    "link fault": either(names("device_health", "degraded_link"), names("communication_limit", "slow_link")),
    "link fault confirmed": either(confirms("device_health"), confirms("communication_limit")),
    "missing rank crashed": names("failed_worker"),
    "model replicas differ": says(r"\b(models?|replicas?) (differ|are different)"),
    "models differ between ranks": either(DIVERGES, says(r"\bmodels? (differ|are different)")),
    "more workers help": says("more (loader )?workers"),
    "network upgrade needed": says("upgrade|faster network"),
    "network upgrade will help": either(names("communication_limit"), says("upgrade|faster network")),
    "no transfer cost": says("no transfer|transfer (is|costs?) (zero|nothing|free)"),
    "node B is faulty": names("device_health"),
    "optimizer is the cause": either(names("host_stall"), says("optimizer is")),
    "order divergence": names("collective_divergence", "different_operation"),
    "out of memory is proven (signal 9 can come from elsewhere)": both(
        confirms("failed_worker"), says(r"out of memory|memory killer")
    ),
    "out of memory is the cause": either(names("failed_worker"), says(r"memory (ran out|is the cause)")),
    "pcie upgrade helps": either(names("communication_limit"), says("upgrade|more lanes")),
    "pipeline_imbalance as the main loss": names("pipeline_imbalance"),
    "plugin missing is the cause": says("plug-?in"),
    "rank 0 is the culprit": holds_responsible(0),
    "rank 1 is slow": holds_responsible(1),
    "rank 2 is the straggler": holds_responsible(2),
    "rank 7 is faulty": holds_responsible(7),
    "shape mismatch of the data": names("collective_divergence", "different_size"),
    "slow validation": names("host_stall"),
    "storage is the cause": STORAGE,
    "straggler": straggles,
    "the GPU with 100 % utilisation is the bottleneck": either(straggles, names("device_health")),
    "the machine with later stamps is the straggler": straggles,
    "the peer in the error line is the culprit": either(straggles, says(r"\bpeer .{0,30}(fault|culprit|to blame)")),
    "uneven batches": DIVERGES,
    "user code": says(r"\b(user|your) code"),
    "user code diverges": DIVERGES,
}  # fmt: skip
