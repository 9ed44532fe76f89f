"""The chat as a person has it, in a pseudo-terminal, and the same talk over HTTP."""

import json
import re
from pathlib import Path

import pexpect
import pytest
from latecomer.cli.exit_codes import Exit
from latecomer.service.client import Client

from .terminal import PROMPT, TABLE, Terminal, essence, home, latecomer, server, terminal

MESSAGES = (TABLE, "/unknown", "/unknown")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return home(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def talk(place: dict[str, str]) -> str:
    """Id of a session in which the table was pasted as one message; what else a terminal has to do is seen here."""
    with terminal("chat", env=place) as chat:
        chat.see(PROMPT)
        chat.child.send("half a thought\x03")
        chat.see("half a thought")
        chat.see(PROMPT)
        chat.paste(TABLE)
        seen = chat.say("", "probable")
        assert "not_understood" not in seen and "Rank 2" in seen and "input" in seen
        last, status = chat.leave()
    kept = re.search(r"latecomer resume (\w+)", last)
    assert kept, last
    assert status == Exit.DIAGNOSIS
    return kept[1]


def test_L31_the_table_is_pasted_and_the_diagnosis_exported(place: dict[str, str], talk: str) -> None:
    document = json.loads(latecomer("export", talk, env=place).stdout)
    assert document["verdict"] in ("probable", "established")
    assert (document["leading"]["ranks"], document["leading"]["cause"]) == ([2], "input_delay")
    events = [
        json.loads(line) for line in latecomer("export", talk, "--format", "events", env=place).stdout.splitlines()
    ]
    said = [event["data"]["text"] for event in events if event["kind"] == "message_received"]
    assert said == [TABLE]
    assert latecomer("export", talk, "--format", "text", env=place).stdout.startswith("Rank 2 ")


def test_a_second_process_takes_the_session_up_again(place: dict[str, str], talk: str) -> None:
    with terminal("resume", talk[:3], env=place) as chat:
        recap = chat.see(PROMPT)
        assert re.search(r"\d+ turns?, last", recap)
        assert "Rank 2" in recap and "Still open: " in recap
        assert "I ask because" in chat.say("/why", "Still open")
        assert "I would change my mind if" in chat.say("/show", "Meanwhile")
        assert "Taken back" in chat.say("/undo", "cannot tell")
        chat.say("/quit", "latecomer resume")


def test_errors_are_a_line_and_the_chat_goes_on(place: dict[str, str]) -> None:
    with terminal("chat", env=place) as chat:
        chat.see(PROMPT)
        chat.say("/show", "error: nothing was said yet")
        chat.say("/attach no/such/folder", "error: no/such/folder: there is no such file")
        assert "/attach PATH" in chat.say("/help", "/quit")
        assert chat.leave()[1] == Exit.DIAGNOSIS


def test_a_path_alone_is_attached(place: dict[str, str], tmp_path: Path) -> None:
    trace = tmp_path / "table.csv"
    trace.write_text("rank,input_ms,compute_ms,arrival_ms\n0,20,180,200\n1,20,180,200\n2,140,180,320\n3,20,180,200\n")
    with terminal("chat", env=place) as chat:
        chat.see(PROMPT)
        chat.say(str(trace), "Read .*/undo takes it back")
        chat.see("Rank 2 .*probable")


def test_tab_completes_commands_and_ranks(place: dict[str, str]) -> None:
    with terminal("chat", env=place) as chat:
        chat.see(PROMPT)
        chat.child.send("/whati\t")
        chat.see("/whatif")
        chat.child.send("\x03")
        chat.say("rank 5 gets there at 410, ranks 0-4, 6 and 7 at 250", "Rank 5")
        chat.see(PROMPT)
        chat.child.send("rank \t")
        chat.see("0  1  2  3  4  5  6  7")


def test_the_same_messages_over_http_give_the_same_diagnosis(tmp_path: Path) -> None:
    env = home(tmp_path / "here")
    answers = tmp_path / "answers.txt"
    answers.write_text(f"```\n{TABLE}\n```\n" + "\n".join(MESSAGES[1:]))
    local = latecomer("chat", "--answers", str(answers), "--format", "json", env=env)
    with server(tmp_path / "there") as address, Client(address) as client:
        session = client.create_session()
        for message in MESSAGES:
            client.say(session.id, message)
        remote = client.diagnosis(session.id).model_dump(mode="json")
        piped = latecomer("chat", "--answers", str(answers), "--format", "json", "--server", address, env=env)
    assert essence(json.loads(local.stdout)) == essence(remote) == essence(json.loads(piped.stdout))
    assert remote["leading"]["ranks"] == [2]


def test_a_server_that_is_gone_ends_the_chat_and_says_so(tmp_path: Path) -> None:
    with server(tmp_path) as address:
        chat = Terminal("chat", "--server", address, env=home(tmp_path))
        chat.see(PROMPT)
        chat.say("rank 5 gets there at 410, everybody else 250", "Rank 5")
        chat.see(PROMPT)
    chat.say("is it the network?", r"latecomer resume \w+")
    chat.see("error: the service cannot be reached")
    chat.child.expect(pexpect.EOF)
    chat.child.close()
    assert chat.child.exitstatus == Exit.UNREACHABLE
