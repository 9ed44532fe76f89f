"""An error as a person needs it: what happened, where, what to do. On stderr, without a traceback."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Callable

from ...knowledge.errors import InputError, LatecomerError, UnreachableError, UsageError
from ..exit_codes import Exit


def guarded(action: Callable[[], Exit], *, debug: bool) -> Exit:
    """Run a command; its exit status, or that of the error it ended with."""
    try:
        return action()
    except KeyboardInterrupt:
        return Exit.INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.FAULT
    except LatecomerError as error:
        _say(error.what, error.where, error.remedy, debug)
        return status_of(error)
    except Exception as error:
        fault = f"a fault of latecomer: {type(error).__name__}: {error}"
        _say(fault, "", "Run again with --debug and report it.", debug)
        return Exit.FAULT


def status_of(error: LatecomerError) -> Exit:
    """The exit status an error of the product leads to."""
    if isinstance(error, InputError):
        return Exit.BAD_INPUT
    if isinstance(error, UnreachableError):
        return Exit.UNREACHABLE
    return Exit.USAGE if isinstance(error, UsageError) else Exit.FAULT


def _say(what: str, where: str, remedy: str, debug: bool) -> None:
    print(f"error: {what}", file=sys.stderr)
    for label, text in (("where", where), ("do", remedy)):
        if text:
            print(f"  {label}: {text}", file=sys.stderr)
    if debug:
        traceback.print_exc()
