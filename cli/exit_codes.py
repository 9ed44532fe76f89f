"""Exit status of every command."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What an exit status means. Printed in the help and in docs/cli.md."""

    DIAGNOSIS = 0
    FAULT = 1
    USAGE = 2
    INCONCLUSIVE = 3
    BAD_INPUT = 4
    UNREACHABLE = 5
    INTERRUPTED = 130


MEANINGS = {
    Exit.DIAGNOSIS: "a diagnosis, healthy included",
    Exit.FAULT: "a fault of latecomer",
    Exit.USAGE: "wrong usage",
    Exit.INCONCLUSIVE: "inconclusive; more evidence is wanted",
    Exit.BAD_INPUT: "input that cannot be used",
    Exit.UNREACHABLE: "the service cannot be reached",
    Exit.INTERRUPTED: "interrupted",
}
