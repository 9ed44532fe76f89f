"""The chat without a person: messages from a file, exit status, errors that scripts meet."""

import json
from pathlib import Path

import pytest
from latecomer.cli.chat.piped import messages
from latecomer.cli.exit_codes import Exit

from .terminal import TABLE, home, latecomer

PROSE = "training is slow\nsince monday"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return home(tmp_path_factory.mktemp("home"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("one\ntwo\n", ["one", "two"]),
        (f"{PROSE}\n\n{TABLE}\n", [PROSE, TABLE]),
        (f"slow\n{TABLE}\nunknown\n", ["slow", TABLE, "unknown"]),
        (f"```\n{PROSE}\n```\nunknown\nskip", [PROSE, "unknown", "skip"]),
        (f"{PROSE}\n/why\n\nunknown", [PROSE, "/why", "unknown"]),
        ("```\n\na\n\nb\n```", ["a\n\nb"]),
        ("", []),
    ],
)
def test_messages_of_a_file(text: str, said: list[str]) -> None:
    assert [one.strip() for one in messages(text)] == said


def test_L31_a_table_from_stdin_names_the_rank(place: dict[str, str]) -> None:
    done = latecomer("chat", "--answers", "-", text=TABLE, env=place)
    assert done.returncode == Exit.DIAGNOSIS, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("Read: ranks 0-3") and "\nI would change my mind if\n" in done.stdout
    assert "\x1b" not in done.stdout and "\n> " not in done.stdout


def test_what_cannot_be_told_ends_with_3_and_the_open_questions(place: dict[str, str]) -> None:
    done = latecomer("chat", "--answers", "-", text="training got slower\n", env=place)
    assert done.returncode == Exit.INCONCLUSIVE, done.stderr
    assert "Open questions:\n  ? " in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("args", "text", "status"),
    [
        (("chat",), "rank 2 is late", Exit.USAGE),
        (("resume",), "", Exit.USAGE),
        (("chat", "--answers", "no/such/file"), "", Exit.BAD_INPUT),
        (("chat", "--answers", "-"), "", Exit.BAD_INPUT),
        (("chat", "no/such/trace", "--answers", "-"), "hello", Exit.BAD_INPUT),
        (("chat", "--session", "zzzz", "--answers", "-"), "hello", Exit.USAGE),
        (("chat", "--database", "mysql://x/y", "--answers", "-"), "hello", Exit.FAULT),
        (("chat", "--server", "http://127.0.0.1:9", "--answers", "-"), "hello", Exit.UNREACHABLE),
        (("export", "zzzz"), "", Exit.USAGE),
        (("serve", "--host", "0.0.0.0"), "", Exit.USAGE),
    ],
)
def test_errors_have_their_status_and_say_what_to_do(
    place: dict[str, str], args: tuple[str, ...], text: str, status: Exit
) -> None:
    done = latecomer(*args, text=text, env=place)
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("error: ") and "Traceback" not in done.stderr


@pytest.mark.parametrize("command", ["chat", "resume", "serve", "export", "diagnose", "rules", "example"])
def test_help_of_every_command(place: dict[str, str], command: str) -> None:
    done = latecomer(command, "--help", env=place)
    assert done.returncode == Exit.DIAGNOSIS, done.stderr
    assert done.stdout.startswith("Usage: ") and command in done.stdout.splitlines()[0]


def test_traces_are_read_where_they_lie_and_the_diagnosis_is_written_where_asked(
    place: dict[str, str], tmp_path: Path
) -> None:
    trace, written = tmp_path / "ranks.csv", tmp_path / "diagnosis.json"
    trace.write_text(TABLE.replace(" | ", ","))
    done = latecomer("chat", str(trace), "--answers", "-", text=f"is it the network?\n/export {written}", env=place)
    assert done.returncode == Exit.DIAGNOSIS, done.stderr
    document = json.loads(written.read_text("utf-8"))
    assert document["leading"]["ranks"] == [2]
    assert document["read_report"]["sources"] == [str(trace)]
