"""A hosted model by its bare name, with its provider's key in the environment and without memflow.toml."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from stub import request_counts, stub_process

from memflow.resources.endpoints import hosted_models, tables

RUN = ("--domain", "locomo_demo", "--limit", "1", "--memory", "bm25_message", "--no-baselines")
STAND_IN = """
[openai]
url = "{url}"
key_variable = "OPENAI_API_KEY"
preset = "openai"
source = "a stub"
[openai.models]
"gpt-4o-mini" = {{ input = 1.0, cached = 0.5, output = 2.0, date = 2026-01-01 }}
"gpt-4.1" = {{ input = 3.0, output = 4.0, date = 2026-01-01 }}
"""


@pytest.fixture
def stand_in_list(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], None]]:
    """Return a function that reads hosted_models.toml from a folder instead of the package."""

    def read_from(folder: Path) -> None:
        monkeypatch.setattr(tables, "files", lambda package: folder)
        hosted_models.hosted_models.cache_clear()

    yield read_from
    hosted_models.hosted_models.cache_clear()


def test_plan_of_a_hosted_model_states_its_cost_and_the_date_of_the_price(empty) -> None:
    arguments = ("plan", *RUN, "--model", "gpt-4o-mini", "--judge", "gpt-4.1")
    planned = empty.json(*arguments)
    rows = {row["role"]: row for row in planned["stages"]}
    assert {role: row["model"] for role, row in rows.items()} == {
        "assistant": "gpt_4o_mini",
        "judge": "gpt_4_1",
    }
    answers = rows["assistant"]
    expected = (answers["prompt_tokens"] * 0.15 + answers["completion_tokens"] * 0.6) / 1e6
    assert answers["cost"] == pytest.approx(expected)
    assert planned["total"]["cost"] == planned["total"]["known_cost"] > answers["cost"] > 0
    text = " ".join(empty(*arguments).stdout.split())
    assert (
        "gpt_4o_mini: 0.15 and 0.6 US dollars per million" in text and "the price list of 2025-07-04" in text
    )


def test_total_of_a_plan_is_at_least_the_known_costs(empty) -> None:
    Path("memflow.toml").write_text('[models.own]\nurl = "http://127.0.0.1:9/v1"\nmodel = "own"\n')
    arguments = ("plan", *RUN, "--model", "gpt-4.1", "--judge", "own")
    total = empty.json(*arguments)["total"]
    assert total["cost"] is None and total["known_cost"] > 0
    text = empty(*arguments).stdout
    assert f"at least {total['known_cost']:,.2f}" in text and "unknown" in text


def test_unknown_model_without_an_address_is_refused(empty) -> None:
    wrong = empty.error("plan", *RUN, "--model", "gpt-9")
    assert "there is no model 'gpt-9' in memflow.toml" in wrong and "add --url" in wrong
    assert "gpt-4o-mini" in empty("models").stdout


@pytest.mark.pipeline
def test_run_with_a_bare_model_name_sends_the_key_and_later_commands_know_the_price(
    empty, monkeypatch: pytest.MonkeyPatch, stand_in_list
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-of-the-test")
    with stub_process(model="gpt-4o-mini", provider="openai") as url:
        Path("hosted_models.toml").write_text(STAND_IN.format(url=url))
        stand_in_list(Path.cwd())
        done = empty("run", *RUN, "--model", "gpt-4o-mini")
        assert done.exit_code == 0, done.output
        assert sum(request_counts(url).values()) > 0
    scores = empty.json("show", "leaderboard")["scores"]
    assert {score["assistant"] for score in scores} == {"bm25_message@gpt_4o_mini"}
    total = empty.json("show", "usage")["total"]
    tokens = total["prompt_tokens"] - total["cached_prompt_tokens"] / 2 + 2 * total["completion_tokens"]
    assert total["cost"] == total["known_cost"] == pytest.approx(tokens / 1e6)
    assert "a-key-of-the-test" not in "".join(
        path.read_text(errors="ignore") for path in empty.folder.rglob("*") if path.is_file()
    )
