"""Words, groups and sections of the text."""

from pathlib import Path

import pytest
from latecomer.cli.render.diagnosis import render
from latecomer.cli.render.progress import ranks_in
from latecomer.cli.render.revisions import MOST_OUTCOMES
from latecomer.cli.render.words import percent, ranks
from latecomer.service.diagnosis.local import diagnose_text
from latecomer.service.diagnosis.schemas import Diagnosis, LimitDocument, NoteDocument, ReadReport

ROWS = "rank input compute arrival\n0 20 180 200\n1 20 180 200\n2 140 180 320\n3 20 180 200\n"


@pytest.fixture(scope="module")
def summary() -> Diagnosis:
    return diagnose_text(ROWS)


def lines_of(diagnosis: Diagnosis, width: int = 100) -> list[str]:
    return [line.plain for line in render(diagnosis, width=width, color=False)]


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "< 1 %"), (0.004, "< 1 %"), (0.05, "5 %"), (0.5, "50 %"), (0.999, "> 99 %")]
)
def test_no_probability_reads_as_certain(share: float, text: str) -> None:
    assert percent(share) == text


@pytest.mark.parametrize(
    ("numbers", "text"), [((2,), "rank 2"), ((0, 1, 2, 3, 7), "ranks 0-3, 7"), ((), ""), ((4, 1), "ranks 1, 4")]
)
def test_ranks_are_written_in_runs(numbers: tuple[int, ...], text: str) -> None:
    assert ranks(numbers) == text


def test_one_row_a_rank_has_no_heat_map_and_no_interval(summary: Diagnosis) -> None:
    text = "\n".join(lines_of(summary))
    assert "lateness in each step" not in text
    assert "Gain if it works: about 120.0 ms of 320.0 ms a step.\n" in text
    assert summary.recoverable is not None and summary.recoverable.interval is None


def test_each_question_is_one_heading_with_its_outcomes(summary: Diagnosis) -> None:
    lines = lines_of(summary)
    shown = summary.revise_if[:MOST_OUTCOMES]
    changes = lines[lines.index("I would change my mind if") :]
    assert sum("->" in line for line in changes) == len(shown)
    for subject in {r.subject for r in shown}:
        assert sum(subject[:60] in line for line in changes) == 1


def test_rivals_point_to_the_reason_instead_of_repeating_it(summary: Diagnosis) -> None:
    lines = lines_of(summary)
    rivals = lines[lines.index("Weaker") + 1 : lines.index("Not shown")]
    assert rivals == ["  - unequal work (< 1 %): see 2", "  - host stall (< 1 %): see 1"]


def test_the_verdict_ends_a_line_with_room_or_has_its_own(summary: Diagnosis) -> None:
    assert lines_of(summary, 100)[0].endswith("because its input is late.   probable")
    assert lines_of(summary, 60)[2] == "probable"


def test_notes_of_reading_are_in_one_section_without_repeats(summary: Diagnosis) -> None:
    note = NoteDocument(
        code="x", severity="weakens", detail="a row was left out", file="/a/b/r.csv", rank=None, count=1, weakens=""
    )
    report = ReadReport(sources=("/a/b/r.csv", "/a/b/s.csv"), notes=(note, note))
    lines = lines_of(summary.model_copy(update={"read_report": report}))
    assert lines[lines.index("Reading") + 1 :] == ["  - r.csv: a row was left out."]


def test_progress_counts_ranks_by_the_names_of_files() -> None:
    files = [Path("rank0.pt.trace.json"), Path("rank_12.log"), Path("rank0.log"), Path("notes.txt")]
    assert ranks_in(files) == ", 2 ranks"
    assert ranks_in(files[3:]) == ""


def test_a_cap_is_shown_only_where_it_bears_on_a_verdict_given_here(summary: Diagnosis) -> None:
    limits = tuple(
        LimitDocument(text=f"about {scope}", rule="test.x", scope=scope, at_most="probable")
        for scope in ("common", "rank:2", "job")
    )
    lines = lines_of(summary.model_copy(update={"limits": limits}))
    start = lines.index("Not shown") + 1
    assert lines[start : start + 3] == [
        "  - about common.",
        "  - about rank:2. (at most probable)",
        "  - about job. (at most probable)",
    ]
