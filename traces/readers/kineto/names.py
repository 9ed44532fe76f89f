"""What a name in a trace stands for: kinds of events, canonical operations and element types."""

from __future__ import annotations

import re
from enum import IntEnum

KERNEL_COLLECTIVE = re.compile(
    r"nccl(?:Dev)?Kernel_(?P<coll>AllReduce|AllGather|ReduceScatter|Broadcast|Reduce|SendRecv|AllToAll|Generic)"
)
"""Kernels of NCCL and RCCL by name (reference: libkineto samples, NCCL before and after 2.19)."""

HOST_CATEGORIES = frozenset({"cpu_op", "user_annotation", "Operator", "operator"})
KERNEL_CATEGORIES = frozenset({"kernel", "Kernel"})
LAUNCH_CATEGORIES = frozenset({"cuda_runtime", "cuda_driver", "Runtime", "hip_runtime", "xpu_runtime"})


class Kind(IntEnum):
    """What a host event is to the reader."""

    OTHER = 0
    STEP = 1
    INPUT = 2
    FORWARD = 3
    BACKWARD = 4
    OPTIMIZER = 5
    CALL = 6
    GLOO = 7
    COMMS = 8


_PREFIXES = (
    ("ProfilerStep#", Kind.STEP),
    ("enumerate(DataLoader)", Kind.INPUT),
    ("enumerate(DataPipe)", Kind.INPUT),
    ("DistributedDataParallel.forward", Kind.FORWARD),
    ("FullyShardedDataParallel.forward", Kind.FORWARD),
    ("autograd::engine::evaluate_function", Kind.BACKWARD),
    ("Optimizer.step#", Kind.OPTIMIZER),
    ("Optimizer.zero_grad#", Kind.OPTIMIZER),
    ("c10d::", Kind.CALL),
    ("gloo:", Kind.GLOO),
    ("nccl:", Kind.COMMS),
    ("record_param_comms", Kind.COMMS),
)


def kind_of(name: str) -> Kind:
    """Kind of a host event by its name."""
    for prefix, kind in _PREFIXES:
        if name.startswith(prefix):
            if kind is Kind.CALL and operation(name) == "unknown":
                return Kind.OTHER
            return kind
    return Kind.OTHER


_OPERATIONS = (
    ("allreduce", "all_reduce"),
    ("allgather", "all_gather"),
    ("reducescatter", "reduce_scatter"),
    ("alltoallv", "all_to_allv"),
    ("alltoall", "all_to_all"),
    ("broadcast", "broadcast"),
    ("barrier", "barrier"),
    ("monitoredbarrier", "barrier"),
    ("reduce", "reduce"),
    ("gather", "gather"),
    ("scatter", "scatter"),
    ("sendrecv", "send_recv"),
    ("send", "send_recv"),
    ("recv", "send_recv"),
)


def operation(name: str) -> str:
    """Canonical operation of a call, annotation, kernel or "Collective name"; "unknown" for all others."""
    bare = re.sub(r"[^a-z]", "", name.lower().rpartition(":")[2])
    return next((op for prefix, op in _OPERATIONS if bare.startswith(prefix)), "unknown")


_DTYPES = {
    "float": ("float32", 4),
    "half": ("float16", 2),
    "bfloat16": ("bfloat16", 2),
    "double": ("float64", 8),
    "int": ("int32", 4),
    "long": ("int64", 8),
    "longint": ("int64", 8),
    "short": ("int16", 2),
    "byte": ("uint8", 1),
    "unsignedchar": ("uint8", 1),
    "char": ("int8", 1),
    "signedchar": ("int8", 1),
    "bool": ("bool", 1),
    "c10half": ("float16", 2),
    "c10bfloat": ("bfloat16", 2),
}


def dtype_of(name: str) -> tuple[str, int]:
    """Canonical element type and its size in bytes; ("", 0) where it is unknown."""
    bare = re.sub(r"[^a-z0-9]", "", name.lower())
    if bare.startswith(("float8", "c10float8")):
        return "float8", 1
    return _DTYPES.get(bare, _DTYPES.get(bare.rstrip("0123456789"), ("", 0)))
