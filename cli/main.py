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


class Written(StrEnum):
    """How a chat with answers ends."""

    TEXT = "text"
    JSON = "json"


class Exported(StrEnum):
    """What is written of a session."""

    JSON = "json"
    EVENTS = "events"
    TEXT = "text"


COLLECT_AFTER = 50_000
"""Objects between collections: what a run loads stays until its end, so that early collections find nothing."""
HOST, PORT = "127.0.0.1", 8421
EPILOG = "Exit status: " + "; ".join(f"{code.value} {meaning}" for code, meaning in MEANINGS.items()) + "."
Server = Annotated[
    str, typer.Option("--server", metavar="URL", help="Service to talk to; default LATECOMER_URL, else this process.")
]
Database = Annotated[
    str,
    typer.Option(
        "--database",
        metavar="URL",
        help="Where sessions are kept; default LATECOMER_DATABASE_URL, else a file of yours.",
    ),
]
NoColor = Annotated[bool, typer.Option("--no-color", help="Write text without colour.")]
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


@app.command()
def chat(
    paths: Annotated[
        list[str] | None, typer.Argument(metavar="PATH...", help="Trace files, folders or globs of one job.")
    ] = None,
    title: Annotated[str, typer.Option("--title", help="Title of the session; default: its first words.")] = "",
    answers: Annotated[
        str,
        typer.Option(
            "--answers",
            metavar="FILE",
            help="Messages to say instead of asking you; - reads stdin. Blank lines or ``` fences keep lines together, "
            "else a message a line.",
        ),
    ] = "",
    session: Annotated[str, typer.Option("--session", metavar="ID", help="Go on with this session.")] = "",
    server: Server = "",
    database: Database = "",
    output: Annotated[Written, typer.Option("--format", help="How --answers ends.")] = Written.TEXT,
    no_color: NoColor = False,
    debug: Debug = False,
) -> None:
    """Talk a slow or hung job through, question by question."""
    from .commands.chat import Options, run

    options = Options(paths or [], title, answers, session, server, database, output, no_color)
    raise typer.Exit(_guarded(lambda: run(options), debug))


@app.command()
def resume(
    session: Annotated[str, typer.Argument(metavar="ID", help="Beginning of its id; default: the latest.")] = "",
    server: Server = "",
    database: Database = "",
    no_color: NoColor = False,
    debug: Debug = False,
) -> None:
    """Go on with a session: where it stands, then the chat."""
    from .commands.resume import run

    raise typer.Exit(_guarded(lambda: run(session, server=server, database=database, no_color=no_color), debug))


@app.command()
def serve(
    host: Annotated[str, typer.Option("--host", help="Address to listen on; others need LATECOMER_TOKEN.")] = HOST,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port; 0 takes a free one.")] = PORT,
    database: Database = "",
    workers: Annotated[int, typer.Option("--workers", min=0, max=64, help="Engine processes; 0: none.")] = 0,
    debug: Debug = False,
) -> None:
    """Serve the sessions over HTTP."""
    from .commands.serve import run

    raise typer.Exit(_guarded(lambda: run(host, port, database=database, workers=workers), debug))


@app.command()
def export(
    session: Annotated[str, typer.Argument(metavar="ID", help="Beginning of the session's id.")],
    output: Annotated[
        Exported, typer.Option("--format", help="The diagnosis as a document or as text, or every event of the log.")
    ] = Exported.JSON,
    file: Annotated[str, typer.Option("-o", "--output", metavar="FILE", help="Default: stdout.")] = "",
    server: Server = "",
    database: Database = "",
    debug: Debug = False,
) -> None:
    """Write the diagnosis of a session, or its log."""
    from .commands.export import run

    action = lambda: run(session, output=output, file=file, server=server, database=database)  # noqa: E731
    raise typer.Exit(_guarded(action, debug))


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
