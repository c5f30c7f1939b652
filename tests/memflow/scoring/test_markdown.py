"""The leaderboard as Markdown: order, intervals, labels, bounded length, and data that contains Markdown."""

import factories

from memflow.chat.scripted import LABEL
from memflow.records import Score
from memflow.scoring.markdown import MOST_ASSISTANTS, MOST_DOMAINS, leaderboard_markdown
from memflow.scoring.primary import primary_scores, ranked_assistants, score_numbers


def scores(**values: float | None) -> list[Score]:
    """Return the accuracy of assistants by name."""
    return [
        factories.score(assistant=name, metric="accuracy", value=value, low=0.1, high=0.9, scripted=False)
        for name, value in values.items()
    ]


def rows(text: str) -> list[list[str]]:
    """Return the cells of the table rows below the head."""
    found = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]
    return [row for row in found if row[0].isdigit() or "–" in row[0]]


def test_assistants_are_in_order_of_the_first_metric_with_missing_values_last() -> None:
    text = leaderboard_markdown(scores(low=0.2, lost=None, best=0.8, tie=0.8))
    assert [row[1] for row in rows(text)] == ["best", "tie", "low", "lost"]
    assert [row[2] for row in rows(text)][::3] == ["0.800 \\[0.100, 0.900\\]", "none"]


def test_lower_values_rank_first_where_the_metric_says_so() -> None:
    found = [
        factories.score(assistant=name, metric="forgetting", value=value)
        for name, value in (("a", 0.9), ("b", 0.1))
    ]
    assert [name for name, _ in ranked_assistants(found)] == ["b", "a"]


def test_table_and_list_of_domains_have_a_bounded_length_and_name_what_is_left_out() -> None:
    many = scores(**{f"memory_{number}": number / 100 for number in range(MOST_ASSISTANTS + 5)})
    text = leaderboard_markdown(many)
    assert len(rows(text)) == MOST_ASSISTANTS and "5 more assistants: `memflow show leaderboard" in text
    domains = [factories.score(domain=f"d{number}", metric="accuracy") for number in range(MOST_DOMAINS + 2)]
    assert "2 more domains: `memflow show leaderboard`" in leaderboard_markdown(domains)
    assert leaderboard_markdown([]) == "no scores"


def test_scripted_and_incomplete_scores_are_labeled() -> None:
    found = [factories.score(metric="accuracy", scripted=True, incomplete="sample of 2 of 20 users")]
    assert f"Label: {LABEL}" in leaderboard_markdown(found)
    assert "Incomplete: " in leaderboard_markdown(
        found
    ) and "sample of 2 of 20 users" in leaderboard_markdown(found)


def test_names_with_markdown_and_control_characters_do_not_change_the_table() -> None:
    text = leaderboard_markdown(scores(**{"a|b<img src=x>[l](u)\x1b": 0.5}))
    [row] = rows(text)
    assert row[1] == "a\\|b\\<img src=x\\>\\[l\\](u)␛"


def test_primary_scores_exclude_slices_variants_other_metrics_and_evidence() -> None:
    primary = factories.score(metric="accuracy")
    others = [
        factories.score(metric="accuracy", slice="period 1"),
        factories.score(metric="accuracy", variant="chance_for_unparsed"),
        factories.score(metric="unparsed"),
        factories.score(metric="evidence_recall"),
    ]
    assert primary_scores([*others, primary], lambda _: "amemgym", lambda *_: "standard") == [primary]


def test_score_numbers_have_value_and_interval_and_leave_out_bounds_and_missing_values() -> None:
    found = [
        factories.score(metric="accuracy", value=0.5, low=0.25, high=0.75),
        factories.score(metric="random", value=0.25),
        factories.score(metric="memory_score", value=None),
    ]
    assert score_numbers(found) == {"accuracy": 0.5, "accuracy low": 0.25, "accuracy high": 0.75}
