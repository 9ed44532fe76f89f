"""Documents as text: pictures that need no colour, many ranks binned by their worst."""

from latecomer.cli.render.bars import rank_table
from latecomer.cli.render.heatmap import MOST_ROWS, heatmap, level
from latecomer.cli.render.words import wrapped
from latecomer.service.diagnosis.parts import Heat, RankRow
from rich.text import Text


def heat(ranks: int, steps: int, late: int, ms: float) -> Heat:
    rows = tuple(tuple(ms if r == late else 0.0 for _ in range(steps)) for r in range(ranks))
    return Heat(ranks=tuple(range(ranks)), steps=tuple(range(steps)), lateness_ms=rows)


def row(rank: int, input_ms: float, lateness: float) -> RankRow:
    stages = {"input_wait": input_ms, "compute": 180.0}
    return RankRow(
        rank=rank, stages_ms=stages, own_time_ms=input_ms + 180, lateness_ms=lateness, wait_ms=120 - lateness
    )


def plain(lines: list[Text]) -> list[str]:
    return [line.plain for line in lines]


def test_heat_map_shows_the_late_rank_without_color() -> None:
    lines = plain(heatmap(heat(4, 6, 2, 120.0), [2], width=80, color=False))
    assert lines[1:] == [
        "          0 |      |",
        "          1 |      |",
        ">         2 |@@@@@@|",
        "          3 |      |",
    ]


def test_one_late_rank_of_many_is_never_binned_away() -> None:
    lines = plain(heatmap(heat(64, 200, 37, 90.0), [37], width=80, color=False))
    assert len(lines) == MOST_ROWS + 1
    marked = [line for line in lines if line.startswith(">")]
    assert len(marked) == 1
    assert set(marked[0].split("|")[1]) == {"@"}
    assert max(map(len, lines)) <= 80


def test_no_heat_map_where_nothing_is_late() -> None:
    assert heatmap(heat(4, 6, 2, 0.0), [], width=80, color=False) == []


def test_unknown_is_not_drawn_as_on_time() -> None:
    unknown = Heat(ranks=(0, 1), steps=(0, 1), lateness_ms=((None, 0.0), (5.0, 5.0)))
    assert plain(heatmap(unknown, [1], width=80, color=False))[1].endswith("|? |")


def test_color_changes_the_style_and_not_the_text() -> None:
    drawn = heat(4, 6, 2, 120.0)
    assert plain(heatmap(drawn, [2], width=80, color=True)) == plain(heatmap(drawn, [2], width=80, color=False))


def test_any_lateness_is_visible() -> None:
    assert [level(v, 100.0) for v in (None, -5.0, 0.0, 0.5, 50.0, 100.0, 300.0)] == [0, 0, 0, 1, 4, 9, 9]


def test_rank_table_marks_the_late_and_draws_its_stages() -> None:
    lines = plain(rank_table([row(0, 8, 0), row(1, 128, 120)], [1], width=80))
    assert lines[0].split() == ["rank", "input", "compute", "own", "time", "late", "by", "waits"]
    assert lines[2].startswith("> ")
    assert lines[2].count("i") > lines[1].count("i")
    assert abs(lines[2].count("c") - lines[1].count("c")) <= 1


def test_many_ranks_keep_the_late_one() -> None:
    rows = [row(r, 128 if r == 700 else 8, 120 if r == 700 else 0) for r in range(1024)]
    lines = plain(rank_table(rows, [700], width=80))
    assert [line.split()[1] for line in lines if line.startswith(">")] == ["700"]
    assert "1008 more ranks" in lines[-1]


def test_paragraphs_keep_their_width() -> None:
    lines = plain(list(wrapped("word " * 60, 50, indent="    ", first="  - ")))
    assert max(map(len, lines)) <= 50
    assert lines[0].startswith("  - word")


def test_own_times_that_count_from_the_first_arrival_are_no_durations() -> None:
    rows = [row(0, 8, 0).model_copy(update={"own_time_ms": 0.0}), row(1, 128, 120)]
    assert "own" not in plain(rank_table(rows, [1], width=80))[0].split()


def test_no_table_where_nothing_is_known_of_any_rank() -> None:
    empty = RankRow(rank=0, stages_ms={}, own_time_ms=None, lateness_ms=None, wait_ms=None)
    assert rank_table([empty], [], width=80) == []


def test_no_heat_map_of_a_single_step() -> None:
    assert heatmap(heat(4, 1, 2, 120.0), [2], width=80, color=False) == []


def test_the_last_run_of_ranks_ends_with_the_last_rank() -> None:
    rows = tuple((0.0, 9.0 if r == 63 else 0.0) for r in range(64))
    runs = Heat(ranks=tuple(range(0, 256, 4)), steps=(0, 1), lateness_ms=rows)
    last = plain(heatmap(runs, [255], width=80, color=False, last_rank=255))[-1]
    assert last.split("|")[0].split() == [">", "244-255"]


def test_a_rank_that_is_missing_is_not_named() -> None:
    few = Heat(ranks=(1, 3), steps=(0, 1), lateness_ms=((0.0, 0.0), (5.0, 5.0)))
    assert [line.split("|")[0].split()[-1] for line in plain(heatmap(few, [3], width=80, color=False))[1:]] == [
        "1",
        "3",
    ]
