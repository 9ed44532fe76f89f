"""Shares of the incidents that come out as labelled: `python -m tests.incidents.report [ID ...]`."""

from __future__ import annotations

import sys

from .incident import incidents
from .judged import Judged, judged


def main(ids: list[str]) -> None:
    """One line an incident that misses something (each of those named), then the shares."""
    found = [judged(i.id) for i in incidents() if not ids or i.id in ids]
    for item in found:
        if ids or not (item.verdict and item.ask and item.ranks) or item.forbidden:
            print(line(item))
    for name in ("verdict", "ask", "ranks"):
        hits = sum(bool(getattr(item, name)) for item in found)
        print(f"{name:8} {hits}/{len(found)} = {hits / max(1, len(found)):.0%}")
    print(f"forbidden claims: {sum(len(item.forbidden) for item in found)}")


def line(item: Judged) -> str:
    """What was found and asked beside what was expected."""
    expected, found = item.incident.expected, item.diagnosis
    marks = "".join(mark if good else "-" for mark, good in (("V", item.verdict), ("A", item.ask), ("R", item.ranks)))
    scopes = "; ".join(
        f"{s.id} {s.members} {s.verdict} " + " ".join(f"{c.cause}={c.probability:.2f}" for c in s.causes[:3])
        for s in found.scopes
    )
    symptoms = [f"{f.values['symptom']}({f.values['ranks']})" for f in found.facts if f.kind == "symptom"]
    return (
        f"{item.incident.id} [{marks}] wants {expected.hypothesis} rank {expected.rank}, "
        f"got {found.verdict}: {scopes}\n"
        f"      asks {item.questions}, must ask {expected.must_ask}\n      sees {symptoms}"
        + (f"\n      FORBIDDEN {item.forbidden}" if item.forbidden else "")
    )


if __name__ == "__main__":
    main(sys.argv[1:])
