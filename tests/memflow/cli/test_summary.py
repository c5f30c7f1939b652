"""The summary of a run with many assistants, domains and gaps."""

import factories

from memflow.cli.summary import Summary
from memflow.operations.planned_runs import Outcome, PlannedRun
from memflow.records import Score


def scores(domains: int, assistants: int, gaps: bool = False) -> list[Score]:
    """Return one score per domain and assistant; the last assistant of the last domain is the best of all."""
    return [
        factories.score(
            domain=f"domain{domain}",
            assistant=f"memory{assistant}",
            value=(domain * assistants + assistant) / (domains * assistants),
            incomplete=f"1 of {assistant + 1} replies failed" if gaps else None,
        )
        for domain in range(domains)
        for assistant in range(assistants)
    ]


def summary_of(found: list[Score], failed: int = 0) -> Summary:
    runs = [PlannedRun("domain x assistant", "d", f"m{number}") for number in range(failed)]
    reasons = [(run, f"reason {number}") for number, run in enumerate(runs)]
    return Summary(Outcome(failed=reasons), found, found)


def test_large_domain_shows_its_best_assistants_and_the_command_for_all(printed) -> None:
    summary = summary_of(scores(1, 1000, gaps=True))
    for width in (80, 140):
        lines = printed(summary, width).splitlines()
        shown = "\n".join(lines)
        assert len(lines) < 80
        assert "memory999" in shown and "memory980" in shown and "memory979" not in shown
        said = " ".join(shown.split())
        assert "The best 20 of 1,000 assistants are shown." in said
        assert "`memflow show leaderboard --domain domain0 --limit 0` shows all." in said
        assert "and 980 others; `--format json` lists all." in said
    assert len(summary.data()["leaderboard"]) == 1000


def test_failures_are_never_shortened(printed) -> None:
    said = printed(summary_of([], failed=100), 140)
    assert all(f"reason {number}" in said for number in range(100))
