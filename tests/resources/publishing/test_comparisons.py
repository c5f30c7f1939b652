"""The rows of score.comparisons from a lake, of which unchanged pairs are stored ones."""

from dataclasses import replace
from pathlib import Path

import factories
import pytest

import memflow.resources.publishing.comparisons
from memflow.records import Comparison
from memflow.resources.lake.lake import Lake
from memflow.resources.publishing.comparisons import comparison_table
from memflow.resources.settings.settings import Settings

DOMAIN = "comem_demo"
PROBES = [
    factories.probe(
        domain=DOMAIN, probe_id=f"{episode}/{number}", question_id=f"{episode}/{number}", episode_id=f"e{episode}",
        checkpoint=1, options=["x", "y"], split="test", category="c",
    )
    for episode in range(8)
    for number in range(4)
]  # fmt: skip


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    found = Lake(tmp_path / "lake")
    found.write("question.probes", DOMAIN, PROBES, fingerprint="")
    for number, name in enumerate(("full", "none", "rag")):
        write_verdicts(found, name, number)
    return found


def write_verdicts(lake: Lake, assistant: str, wrong_every: int, probes: str | None = None) -> None:
    """Write the verdicts of an assistant that is wrong on every nth probe (0: never)."""
    rows = [
        factories.verdict(
            domain=DOMAIN,
            assistant=assistant,
            probe_id=probe.probe_id,
            episode_id=probe.episode_id,
            value=float(not wrong_every or at % wrong_every != 0),
        )
        for at, probe in enumerate(PROBES)
    ]
    facts = lake.facts("question.probes", DOMAIN)
    assert facts is not None
    meta = {"model": "m", "simulator": "s", "scripted": "no", "probes": probes or facts.digest}
    lake.write("score.verdicts", f"{DOMAIN}/{assistant}", rows, fingerprint="", meta=meta)


def rows(lake: Lake, *, store: bool = False) -> list[Comparison]:
    """Return the comparisons; with `store`, write them to the lake, otherwise compute all of them."""
    settings = Settings(home=Path(lake.root).parent, domains=(DOMAIN,))
    code = "code" if store else str(len(lake.versions("score.comparisons", "all")))
    found, meta = comparison_table(settings, lake, lambda benchmark: code)
    if store:
        noisy = [replace(row, noise=0.5, within_noise=True) for row in found]
        lake.write("score.comparisons", "all", noisy, fingerprint="", meta=meta)
    return [*found]


def test_every_two_assistants_of_a_domain_have_a_comparison(lake: Lake) -> None:
    whole = [row for row in rows(lake) if row.slice == "all" and row.metric == "accuracy"]
    assert [(row.a, row.b, row.n, row.better) for row in whole] == [
        ("full", "none", 32, "a"),
        ("full", "rag", 32, "a"),
        ("none", "rag", 32, "b"),
    ]
    assert whole[0].difference == 1
    assert whole[1].difference == 0.5


def test_many_assistants_are_compared_over_all_probes_only(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = rows(lake, store=True)
    assert {row.slice for row in few} > {"all"}
    monkeypatch.setattr(memflow.resources.publishing.comparisons, "MOST_BY_SLICE", 2)
    assert rows(lake, store=True) == [row for row in few if row.slice == "all"]


def test_verdicts_on_former_probes_are_not_compared(lake: Lake) -> None:
    write_verdicts(lake, "rag", 2, probes="of before")
    assert {(row.a, row.b) for row in rows(lake)} == {("full", "none")}


def test_quarantined_probes_are_not_compared(lake: Lake) -> None:
    probes = [replace(PROBES[0], reason="two options are the same"), *PROBES[1:]]
    lake.write("question.probes", DOMAIN, probes, fingerprint="")
    for number, name in enumerate(("full", "none", "rag")):
        write_verdicts(lake, name, number)
    assert {row.n for row in rows(lake) if row.slice == "all" and row.metric == "accuracy"} == {31}


def write_health(lake: Lake, assistant: str, state: str) -> None:
    row = factories.health_measure(
        domain=DOMAIN, assistant=assistant, state=state, statement="32 of 32 reads were empty"
    )
    lake.write("score.health", f"{DOMAIN}/{assistant}", [row], fingerprint="")


def test_faulty_assistant_is_compared_with_nobody_and_the_reason_is_stated(lake: Lake) -> None:
    before = rows(lake, store=True)
    write_health(lake, "none", "faulty")
    write_health(lake, "rag", "suspect")
    found = rows(lake, store=True)
    assert found == rows(lake)
    [*withheld] = [row for row in found if "none" in (row.a, row.b)]
    reason = "none is not measured: 32 of 32 reads were empty"
    assert {(row.reason, row.difference, row.p, row.better) for row in withheld} == {
        (reason, None, None, None)
    }
    assert {row.health_b if row.b == "none" else row.health_a for row in withheld} == {"faulty"}
    [valid] = [row for row in found if (row.a, row.b, row.slice) == ("full", "rag", "all")]
    assert (valid.difference, valid.p_adjusted, valid.health_b) == (0.5, valid.p, "suspect")
    write_health(lake, "none", "ok")
    write_health(lake, "rag", "ok")
    assert [replace(row, health_a=None, health_b=None) for row in rows(lake, store=True)] == before


def test_only_pairs_with_changed_verdicts_are_computed_again(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed: list[list[tuple[int, int]]] = []
    real = memflow.resources.publishing.comparisons.compare

    def spy(context, measures, pairs, by_slice):  # type: ignore[no-untyped-def]
        computed.append(list(pairs))
        return real(context, measures, pairs, by_slice)

    monkeypatch.setattr(memflow.resources.publishing.comparisons, "compare", spy)
    first = rows(lake, store=True)
    assert rows(lake, store=True) == first
    assert computed == [[(0, 1), (0, 2), (1, 2)]]
    write_verdicts(lake, "rag", 3)
    changed = rows(lake, store=True)
    assert computed[1:] == [[(0, 2), (1, 2)]]
    assert changed == rows(lake)
