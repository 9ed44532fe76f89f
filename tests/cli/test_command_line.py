"""The command line as a person or a script meets it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from latecomer.cli.exit_codes import Exit

TABLE = """| rank | input wait (ms) | compute (ms) | all-reduce (ms) |
|---|---|---|---|
| 0 | 8 | 180 | 140 |
| 1 | 8 | 180 | 140 |
| 2 | 128 | 180 | 20 |
| 3 | 8 | 180 | 140 |
"""


def latecomer(*args: str, text: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "latecomer.cli.main", *args]
    return subprocess.run(command, input=text, capture_output=True, text=True, timeout=120, env={**_env(), **env})


def _env() -> dict[str, str]:
    import os

    return {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "NO_COLOR")}


@pytest.fixture(scope="module")
def example() -> subprocess.CompletedProcess[str]:
    return latecomer("diagnose", "--example")


def test_the_example_names_rank_2(example: subprocess.CompletedProcess[str]) -> None:
    assert example.returncode == Exit.DIAGNOSIS, example.stderr
    assert example.stdout.startswith("Rank 2 ")
    assert example.stderr == ""


def test_sections_come_in_the_order_a_reader_needs(example: subprocess.CompletedProcess[str]) -> None:
    titles = ["Why\n", "Not shown\n", "Next\n", "I would change my mind if\n", "Meanwhile (apart from the diagnosis"]
    places = [example.stdout.index(f"\n{title}") for title in titles]
    assert places == sorted(places)


def test_text_without_a_terminal_is_plain_and_narrow(example: subprocess.CompletedProcess[str]) -> None:
    assert "\x1b" not in example.stdout
    assert max(map(len, example.stdout.splitlines())) <= 100
    narrow = latecomer("diagnose", "--example", "--width", "72")
    assert max(map(len, narrow.stdout.splitlines())) <= 72


def test_color_only_where_asked() -> None:
    assert "\x1b[" in latecomer("diagnose", "--example", FORCE_COLOR="1").stdout
    assert "\x1b" not in latecomer("diagnose", "--example", FORCE_COLOR="1", NO_COLOR="1").stdout
    assert "\x1b" not in latecomer("diagnose", "--example", "--no-color", FORCE_COLOR="1").stdout


def test_json_is_the_document() -> None:
    done = latecomer("diagnose", "--example", "--format", "json")
    document = json.loads(done.stdout)
    assert (document["schema"], document["leading"]["ranks"]) == ("latecomer.diagnosis/1", [2])


def test_stream_is_one_event_a_line() -> None:
    done = latecomer("diagnose", "--example", "--format", "stream-json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    order = list(dict.fromkeys(event["event"] for event in events))
    assert order == ["init", "read", "fact", "finding", "question", "diagnosis", "result"]
    assert events[-1]["data"]["exit"] == done.returncode


def test_L31_pasted_table() -> None:
    done = latecomer("diagnose", "-", text=TABLE)
    assert "Rank 2 " in done.stdout.splitlines()[0]
    assert "established" not in done.stdout.splitlines()[0]


@pytest.mark.parametrize(
    ("args", "text", "status"),
    [
        (("diagnose",), "", Exit.USAGE),
        (("diagnose", "--example", "x"), "", Exit.USAGE),
        (("diagnose", "--format", "xml", "x"), "", Exit.USAGE),
        (("rules", "show", "no.such-rule"), "", Exit.USAGE),
        (("diagnose", "no/such/folder"), "", Exit.BAD_INPUT),
        (("diagnose", "-"), "", Exit.BAD_INPUT),
        (("diagnose", "-"), "good morning", Exit.BAD_INPUT),
    ],
)
def test_errors_end_with_their_status_and_no_traceback(args: tuple[str, ...], text: str, status: Exit) -> None:
    done = latecomer(*args, text=text)
    assert done.returncode == status, done.stderr
    assert done.stdout == ""
    assert done.stderr
    assert "Traceback" not in done.stderr


def test_error_of_a_stream_is_an_event_too() -> None:
    done = latecomer("diagnose", "no/such/folder", "--format", "stream-json")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event["event"] for event in events] == ["init", "error", "result"]
    assert events[1]["data"]["remedy"]


def test_debug_shows_the_traceback() -> None:
    assert "Traceback" in latecomer("diagnose", "no/such/folder", "--debug").stderr


def test_rules_are_listed_and_shown() -> None:
    listed = latecomer("rules", "list", "input-delay").stdout.splitlines()
    assert listed
    assert all(line.startswith("input-delay.") for line in listed)
    assert latecomer("rules", "show", listed[0].split()[0]).stdout.startswith(f"id: {listed[0].split()[0]}\n")


def test_cases_of_a_family_hold() -> None:
    cases = Path(__file__).resolve().parents[1] / "rules"
    done = latecomer("rules", "test", "lateness", "--cases", str(cases))
    assert done.returncode == Exit.DIAGNOSIS, done.stdout
    assert "0 do not hold" in done.stdout


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, latecomer.cli.main; print([m for m in ('numpy','pydantic','yaml','durable') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
