"""The store on both databases: what it keeps, what it refuses, in which order it lists."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
from latecomer.knowledge.errors import ConflictError, InputError, NotFoundError, UsageError
from latecomer.service.store.records import NewEvent, StoredEvent
from latecomer.service.store.schema import BLOBS, DOCUMENTS, EVENTS
from latecomer.service.store.store import Store
from sqlalchemy import func, select

HELLO = NewEvent("said", 0, '{"text": "hell\\u0000o"}')
MORE = NewEvent("answered", 1, '{"ms": 140}')


@asynccontextmanager
async def opened(url: str) -> AsyncIterator[Store]:
    store = await Store.open(url)
    try:
        yield store
    finally:
        await store.close()


def on(url: str, story: Callable[[Store], Awaitable[None]]) -> None:
    """Run a story on a store that holds the session `a` with one event."""

    async def run() -> None:
        async with opened(url) as store:
            await store.create("a", "Slow job", [HELLO])
            await story(store)

    asyncio.run(run())


def texts(events: tuple[StoredEvent, ...]) -> list[tuple[int, str, int, str]]:
    return [(e.seq, e.kind, e.turn, e.data) for e in events]


def test_what_was_appended_is_read_back(database_url: str) -> None:
    async def story(store: Store) -> None:
        stored = await store.append("a", 1, [MORE, HELLO], verdict="probable", headline="Rank 2 is late")
        assert texts(stored) == [(2, "answered", 1, MORE.data), (3, "said", 0, HELLO.data)]
        everything = await store.events("a")
        assert texts(everything[:1]) == [(1, "said", 0, HELLO.data)] and everything[1:] == stored
        assert await store.events("a", after=1, limit=1) == stored[:1]
        assert await store.events("a", after=3) == ()
        found = await store.get("a")
        assert (found.title, found.revision, found.verdict, found.headline) == (
            "Slow job", 3, "probable", "Rank 2 is late",
        )  # fmt: skip
        assert found.created_at < found.updated_at == stored[-1].at
        await store.append("a", 3, [], title="Slow since Monday")
        assert await store.get("a") == await store.latest()
        assert (await store.get("a")).title == "Slow since Monday" and (await store.get("a")).verdict == "probable"

    on(database_url, story)


def test_a_store_opened_again_holds_the_same(database_url: str) -> None:
    async def twice() -> None:
        async with opened(database_url) as store:
            made = await store.create("a", "Slow job", [HELLO])
        async with opened(database_url) as store:
            await store.ping()
            assert await store.get("a") == made
            assert texts(await store.events("a")) == [(1, "said", 0, HELLO.data)]

    asyncio.run(twice())


def test_memory_holds_what_a_file_holds() -> None:
    async def story(store: Store) -> None:
        await asyncio.gather(*(store.create(f"b{n}", "", [HELLO]) for n in range(20)))
        assert len((await store.page()).sessions) == 21

    on("sqlite://", story)


def test_a_conflict_leaves_nothing_behind(database_url: str) -> None:
    async def story(store: Store) -> None:
        before = await store.get("a")
        for wrong in (0, 2):
            with pytest.raises(ConflictError, match=f"revision 1, not {wrong}"):
                await store.append("a", wrong, [MORE], blobs={"f00": b"x"}, verdict="healthy", title="Other")
        with pytest.raises(ConflictError):
            await store.create("a", "again", [MORE])
        assert await store.get("a") == before
        assert len(await store.events("a")) == 1
        with pytest.raises(NotFoundError):
            await store.blob("a", "f00")

    on(database_url, story)


def test_of_two_writers_one_wins_each_revision(database_url: str) -> None:
    async def story(store: Store) -> None:
        async with opened(database_url) as other:
            for revision in range(1, 21):
                tries = [
                    s.append("a", revision, [NewEvent("said", revision, who)])
                    for s, who in ((store, "1"), (other, "2"))
                ]
                results = await asyncio.gather(*tries, return_exceptions=True)
                assert sorted(type(r).__name__ for r in results) == ["ConflictError", "tuple"]
                won = next(r for r in results if isinstance(r, tuple))
                assert (await store.events("a", after=revision)) == won
        assert (await store.get("a")).revision == 21

    on(database_url, story)


def test_an_append_that_is_cancelled_is_whole_or_absent(database_url: str) -> None:
    async def story(store: Store) -> None:
        for spins in range(0, 60, 5):
            revision = (await store.get("a")).revision
            task = asyncio.create_task(store.append("a", revision, [MORE, MORE], blobs={"f00": b"x" * 100_000}))
            for _ in range(spins):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            now = (await store.get("a")).revision
            assert now in (revision, revision + 2)
            assert [e.seq for e in await store.events("a")] == list(range(1, now + 1))

    on(database_url, story)


def test_delete_takes_all_that_belongs_to_it_and_no_more(database_url: str) -> None:
    async def story(store: Store) -> None:
        await store.create("b", "", [HELLO])
        for session in "ab":
            await store.append(session, 1, [MORE], blobs={"f00": b"x"})
            await store.put_document(session, 2, b"{}")
        await store.delete("a")
        for missing in (store.get("a"), store.events("a"), store.delete("a"), store.append("a", 2, [MORE])):
            with pytest.raises(NotFoundError):
                await missing
        assert await store.document("a", 2) is None
        for table, left in ((EVENTS, 2), (BLOBS, 1), (DOCUMENTS, 1)):
            (count,) = await store._rows(select(func.count()).select_from(table))
            assert count[0] == left, table.name

    on(database_url, story)


def test_blobs_and_documents_are_written_once(database_url: str) -> None:
    async def story(store: Store) -> None:
        await store.append("a", 1, [MORE], blobs={"f00": b"\0first", "f01": b""})
        await store.append("a", 2, [MORE], blobs={"f00": b"second"})
        assert (await store.blob("a", "f00"), await store.blob("a", "f01")) == (b"\0first", b"")
        assert await store.document("a", 1) is None
        document = b'{"verdict": "probable"}' * 1000
        await store.put_document("a", 1, document)
        await store.put_document("a", 1, b"other")
        assert await store.document("a", 1) == document
        with pytest.raises(NotFoundError):
            await store.put_document("none", 1, b"{}")

    on(database_url, story)


def test_pages_list_the_session_updated_last_first(database_url: str) -> None:
    async def story(store: Store) -> None:
        for n in range(6):
            await store.create(f"s{n}", "")
        await store.append("s2", 0, [MORE])
        seen: list[str] = []
        cursor = None
        while True:
            page = await store.page(limit=3, cursor=cursor)
            seen += [s.id for s in page.sessions]
            cursor = page.next
            if cursor is None:
                break
        assert seen == ["s2", "s5", "s4", "s3", "s1", "s0", "a"]
        latest = await store.latest()
        assert latest is not None and latest.id == "s2"
        for bad in ("x", "é", "AAAA", cursor_of_no_page()):
            with pytest.raises(UsageError):
                await store.page(cursor=bad)

    on(database_url, story)


def cursor_of_no_page() -> str:
    return "bm9zcGFjZQ"


def test_sessions_are_found_by_how_their_ids_begin(database_url: str) -> None:
    async def story(store: Store) -> None:
        for session in ("7f3a-1", "7f3b-2", "7F3a-3", "7_3"):
            await store.create(session, "")
        assert await store.find("7f3a") == ("7f3a-1",)
        assert await store.find("7f3") == ("7f3a-1", "7f3b-2")
        assert await store.find("7_") == ("7_3",)
        assert await store.find("%") == ()

    on(database_url, story)


@pytest.mark.parametrize("text", ["\ud800", pytest.param("\0", id="NUL")])
def test_text_that_cannot_be_stored_is_the_callers_error(database_url: str, text: str) -> None:
    if text == "\0" and database_url.startswith("sqlite"):
        pytest.skip("SQLite stores NUL")

    async def story(store: Store) -> None:
        for call in (store.create(text, ""), store.get(text), store.append("a", 1, [], title=text)):
            with pytest.raises(InputError):
                await call
        assert (await store.get("a")).title == "Slow job"

    on(database_url, story)
