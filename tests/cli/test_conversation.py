"""What is said in a chat, as lines."""

import pytest
from latecomer.cli.chat.here import command_of, paths_in
from latecomer.cli.render.conversation import said_lines
from latecomer.service.sessions.schemas import Said

LONG = "one two three four five six"
CHOICE = ["    1 one two three", "      four five six"]


@pytest.mark.parametrize(
    ("kind", "text", "lines"),
    [
        ("note", LONG, ["one two three four", "five six"]),
        ("note", f"  {LONG}", ["  one two three four", "    five six"]),
        ("note", f"  - {LONG}", ["  - one two three", "    four five six"]),
        ("question", f"{LONG}\n  1 {LONG}", ["  one two three four", "  five six", *CHOICE]),
        ("answer", "head\n\n  short", ["head", "", "  short"]),
    ],
)
def test_lines_are_wrapped_below_their_own_beginning(kind: str, text: str, lines: list[str]) -> None:
    said = Said.model_validate({"kind": kind, "text": text})
    assert [line.plain.rstrip() for line in said_lines(said, 20)] == lines


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("/attach a b", ("attach", "a b")),
        ("/heat", ("heat", "")),
        ("/show", ("show", "")),
        ("/show 2", None),
        ("/why", None),
        ("/data/traces", None),
        ("show", None),
    ],
)
def test_commands_of_the_terminal_are_told_from_messages(text: str, command: tuple[str, str] | None) -> None:
    assert command_of(text) == command


def test_a_line_of_paths_is_told_from_words(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("traces")
    (folder / "a b.json").touch()
    assert paths_in(f"'{folder}/a b.json'") == [f"{folder}/a b.json"]
    assert paths_in(f"{folder} {folder}") == [str(folder)] * 2
    assert paths_in("/no/such/folder") == ["/no/such/folder"]
    assert paths_in("input 0.2 ms") is None
    assert paths_in("it's late.") is None
    assert paths_in(f"look at {folder}") is None
