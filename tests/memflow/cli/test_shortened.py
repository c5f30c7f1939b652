"""The summary of a run with many assistants, domains and gaps."""

from dataclasses import replace
from io import StringIO

import factories
from rich.console import Console

from memflow.chat.scripted import LABEL
from memflow.cli.shortened import MOST_LINES, first_lines, first_names
from memflow.cli.summary import Summary
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
    reasons = [(f"evaluate_memory d · m{number}", f"reason {number}") for number in range(failed)]
    return Summary(found, found, [], reasons, {}, len(found), 0, [], "x.duckdb", [])


def lines_of(summary: Summary, width: int) -> list[str]:
    console = Console(file=StringIO(), width=width)
    for part in summary.shown():
        console.print(part)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def test_large_domain_shows_its_best_assistants_and_the_command_for_all() -> None:
    summary = summary_of(scores(1, 1000, gaps=True))
    for width in (80, 140):
        lines = lines_of(summary, width)
        shown = "\n".join(lines)
        assert len(lines) < 80
        assert "memory999" in shown and "memory980" in shown and "memory979" not in shown
        said = " ".join(shown.split())
        assert "The best 20 of 1,000 assistants are shown." in said
        assert "`memflow show leaderboard --domain domain0 --limit 0` shows all." in said
        assert "and 980 others; `--format json` lists all." in said
    assert len(summary.data()["leaderboard"]) == 1000


def test_many_domains_are_one_row_each() -> None:
    lines = lines_of(summary_of(scores(40, 3)), 80)
    [row] = [line.split() for line in lines if line.split()[:1] == ["domain1"]]
    assert row[1:3] == ["3", "memory2"]
    assert LABEL not in "".join(lines)
    assert any("40 domains" in line for line in lines)
    assert any("and 20 others" in line for line in lines)
    assert len(lines) < 70


def test_each_of_many_domains_has_its_label() -> None:
    found = [replace(score, scripted=score.domain == "domain1") for score in scores(40, 3)]
    lines = lines_of(summary_of(found), 140)
    assert [line.split()[0] for line in lines if line.endswith(LABEL)] == ["domain1"]


def test_small_run_is_shown_whole() -> None:
    said = "\n".join(lines_of(summary_of(scores(2, MOST_LINES)), 140))
    assert "others" not in said
    assert all(f"memory{number} " in said for number in range(MOST_LINES))


def test_failures_are_never_shortened() -> None:
    said = "\n".join(lines_of(summary_of([], failed=100), 140))
    assert all(f"reason {number}" in said for number in range(100))


def test_first_lines_and_names_state_the_number_of_others() -> None:
    many = [f"n{number}" for number in range(MOST_LINES + 3)]
    assert [line.plain for line in first_lines(many)][-2:] == [
        f"  n{MOST_LINES - 1}",
        "  and 3 others; `--format json` lists all.",
    ]
    assert first_names(many).endswith(f"n{MOST_LINES - 1} and 3 others")
    assert [line.plain for line in first_lines(many[:MOST_LINES])][-1] == f"  n{MOST_LINES - 1}"
    assert first_names(["a", "b"]) == "a, b"
