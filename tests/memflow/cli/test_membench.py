"""`show mechanisms`, `show kinds` and `memflow plot` for MemBench, on a leaderboard with a few rows."""

from dataclasses import replace

import factories
import pytest

DOMAIN = "membench_memdaily"
OURS = "trajectories"
SCORE = factories.score(
    domain=DOMAIN, slice="level factual", value=0.75, low=0.5, high=1.0, n=20, n_episodes=20, scripted=True
)
SETTINGS = f"""
[own_domains.{OURS}]
benchmark = "membench"
datasets = ["memdaily"]
"""


def score(metric, value, **given):
    return replace(SCORE, metric=metric, value=value, **{"low": None, "high": None, **given})


@pytest.fixture
def leaderboard(empty, tmp_path, monkeypatch):
    """Return a home with scores of `none`, `full` and `retrieval`, and of a domain like the paper's."""
    settings = tmp_path / "memflow.toml"
    settings.write_text(SETTINGS)
    monkeypatch.setenv("MEMFLOW_SETTINGS", str(settings))
    found = []
    for name, value, low in (("none", 0.3, 0.1), ("full", 0.75, 0.5), ("retrieval", 0.6, 0.4)):
        of = {"assistant": name, "memory": name}
        for slice_ in ("level factual", "category simple", "category noisy"):
            found.append(replace(SCORE, slice=slice_, value=value, low=low, **of))
            found.append(score("random", 0.25, slice=slice_, low=0.25, high=0.25, **of))
        found.append(replace(SCORE, domain=OURS, slice="level reflective", scripted=False, **of))
    retrieval, none, recent = (
        {"assistant": name, "memory": name} for name in ("retrieval", "none", "recent")
    )
    found += [
        score("recall_at_10", 0.875, **retrieval),
        score("read_time", 0.0004, **retrieval),
        score("write_time", 2.5, **retrieval),
        score("read_calls", 0.0, **retrieval),
        score("write_calls", 1.25, **retrieval),
        score("recall_at_10", None, reason="it recalls nothing", **none),
        score("accuracy", None, slice="category simple", reason="lost", n=0, **recent),
    ]
    empty.write("score.leaderboard", "all", found)
    return empty


def lines(result):
    return {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines() if line.strip()}


def test_show_mechanisms_prints_accuracy_recall_times_and_missing_values(leaderboard) -> None:
    result = leaderboard("show", "mechanisms", "--domain", DOMAIN)
    found = lines(result)
    assert found["none"][:4] == ["0.300", "[0.10", "1.00]*", "20"]
    assert " ".join(found["retrieval"]) == "0.600 [0.40 1.00] 20 0.875 – <0.001 2.5 0 / 1.25"
    assert found["full"][4:] == ["–", "–", "–", "–", "–"] and found["chance"] == ["0.250"]
    assert "– it recalls nothing: recall@10 of none." in result.stdout
    assert (
        "– not measured: recall@10 of full; recall of evidence of all; seconds, requests of none, full."
        in result.stdout
    )
    assert "the answers may be guesses" in result.stdout and "scripted, not a language model" in result.stdout
    assert "reflective" not in result.stdout


def test_paper_option_shows_published_values_with_notes_on_doubtful_values(leaderboard) -> None:
    result = leaderboard("show", "mechanisms", "--domain", OURS, "--paper")
    found = lines(result)
    assert "RetrievalMemory" in found and found["MemGPT"] == ["0.733?", "120", "1.042", "<0.001"]
    assert "? D2: of preference alone" in result.stdout and "paper, gpt-4o-mini" in result.stdout
    assert "scripted" not in result.stdout
    chinese = leaderboard("show", "mechanisms", "--domain", DOMAIN, "--paper").stdout
    assert "FullMemory" not in chinese and "its questions are in English" in chinese
    assert "FullMemory" not in leaderboard("show", "mechanisms").stdout


def test_show_kinds_prints_kinds_in_paper_order_with_counts_and_reasons(leaderboard) -> None:
    result = leaderboard("show", "kinds", "--domain", DOMAIN)
    found = lines(result)
    assert found["memory"] == ["sh", "noisy"] and found["full"] == ["0.750", "0.750"]
    assert found["n"] == ["0-20", "20"] and found["recent"] == ["–", "–"]
    assert "– lost: accuracy of recent." in result.stdout and "sh: single-hop; noisy:" in result.stdout


def test_csv_and_json_output_contains_measured_and_paper_rows(leaderboard) -> None:
    rows = leaderboard.csv("show", "mechanisms", "--paper")
    mine = [row for row in rows if row["source"] == "measured"]
    assert [(row["domain"], row["assistant"], row["accuracy"]) for row in mine[:3]] == [
        (DOMAIN, "none", "0.3"),
        (DOMAIN, "full", "0.75"),
        (DOMAIN, "retrieval", "0.6"),
    ]
    assert (mine[0]["at_floor"], mine[2]["write_time"], mine[1]["write_time"]) == ("True", "2.5", "")
    theirs = [row for row in rows if row["source"] == "paper, table 4"]
    assert {row["domain"] for row in theirs} == {OURS} and theirs[0]["doubt"] == "D2"
    told = leaderboard.json("show", "kinds")
    assert told["label"] == "scripted, not a language model" and told["paper"] == []
    assert {row["slice"] for row in told["rows"]} == {"category simple", "category noisy"}
