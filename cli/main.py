"""The command line of latecomer. Imports of a command's own needs happen when it runs, so that --help is quick."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated

import typer

from .exit_codes import MEANINGS, Exit


class Format(StrEnum):
    """How a diagnosis is written."""

    TEXT = "text"
    JSON = "json"
    STREAM_JSON = "stream-json"


COLLECT_AFTER = 50_000
"""Objects between collections: what a run loads stays until its end, so that early collections find nothing."""
EPILOG = "Exit status: " + "; ".join(f"{code.value} {meaning}" for code, meaning in MEANINGS.items()) + "."
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]

app = typer.Typer(
    name="latecomer",
    help="Finds the rank that arrives late, says why, how sure it is, and what would change its mind.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
rules_app = typer.Typer(help="The rule book: list, show, test.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(rules_app, name="rules")


def _version(wanted: bool) -> None:
    if wanted:
        from .commands.rules import version_line

        typer.echo(version_line())
        raise typer.Exit(Exit.DIAGNOSIS)


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print version and rule book hash."),
    ] = False,
) -> None:
    pass


@app.command()
def diagnose(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH...", help="Trace files, folders or globs of one job; - reads pasted text."),
    ] = None,
    example: Annotated[bool, typer.Option("--example", help="Diagnose the bundled example job.")] = False,
    output: Annotated[Format, typer.Option("--format", help="How to write the diagnosis.")] = Format.TEXT,
    no_color: Annotated[bool, typer.Option("--no-color", help="Write text without colour.")] = False,
    width: Annotated[
        int | None, typer.Option(min=60, max=400, help="Columns of the text; default: the terminal's, else 100.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Find the late rank of a job and say why."""
    from .commands.diagnose import run

    raise typer.Exit(
        _guarded(lambda: run(paths or [], example=example, output=output, no_color=no_color, width=width), debug)
    )


@app.command(name="example")
def example_path() -> None:
    """Print the folder of the bundled example job."""
    from ..service.example import JOB

    typer.echo(JOB)


@rules_app.command(name="list")
def rules_list(
    pack: Annotated[str, typer.Argument(help="Family of rules; all without it.")] = "", debug: Debug = False
) -> None:
    """List the rules, a line each."""
    from .commands.rules import list_rules

    raise typer.Exit(_guarded(lambda: list_rules(pack), debug))


@rules_app.command(name="show")
def rules_show(
    rule_id: Annotated[str, typer.Argument(metavar="ID", help="Id of a rule.")], debug: Debug = False
) -> None:
    """Show one rule: what it means, when it fires, what follows."""
    from .commands.rules import show_rule

    raise typer.Exit(_guarded(lambda: show_rule(rule_id), debug))


@rules_app.command(name="test")
def rules_test(
    pack: Annotated[str, typer.Argument(help="Family of rules; all without it.")] = "",
    cases: Annotated[str, typer.Option(help="Folder with case files.")] = "tests/rules",
    debug: Debug = False,
) -> None:
    """Run the cases of the rules: which must fire and which must stay quiet."""
    from .commands.rules import test_rules

    raise typer.Exit(_guarded(lambda: test_rules(pack, cases), debug))


def _guarded(action: Callable[[], Exit], debug: bool) -> Exit:
    from .commands.errors import guarded

    return guarded(action, debug=debug)


def main() -> None:
    """Entry point of the console script."""
    gc.set_threshold(COLLECT_AFTER)
    try:
        app()
    except KeyboardInterrupt:
        sys.exit(Exit.INTERRUPTED)


if __name__ == "__main__":
    main()
