"""`memflow plan`: predicted calls, time and cost of a run."""

from dataclasses import replace
from pathlib import Path

import pytest
from ledger_rows import ACCOUNT, completion, request

from memflow.cli.plan import _warnings
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.settings.settings import load

FAILING = """
from memflow.errors import ChatError
from memflow.memories.memory import Memory


class Failing(Memory):
    async def write(self, messages):
        pass

    async def read(self, query, frozen=True):
        raise ChatError("no index")
"""


def plan(home, *more: str) -> dict:
    arguments = ["plan", "--demo", "--domain", "amemgym_demo", "--memory", "full", "--limit", "1"]
    return home.json(*arguments, *more)


def test_plan_command_predicts_the_number_of_calls_of_the_run(empty, measured) -> None:
    planned = plan(empty, "--memory", "awi")["total"]
    asked = measured.json("show", "usage")["total"]
    # The scripted chat's short replies are equal for some assistants, so that fewer requests of the simulator differ.
    assert asked["calls"] <= planned["calls"] <= asked["calls"] + 2


def test_assistant_with_the_requests_of_another_has_a_row_and_the_reason(empty) -> None:
    same = [f"bm25_message_{k}" for k in (200, 300)]  # both read every message of the sample
    forecast = plan(empty, "--memory", same[0], "--memory", same[1])
    calls = {row["assistant"]: row["calls"] for row in forecast["assistants"]}
    assert calls[same[0]] > 0 == calls[same[1]]
    assert f"amemgym_demo~1/{same[0]}" in forecast["equal"][f"amemgym_demo~1/{same[1]}"]


def test_plan_command_lists_stages_in_order_and_creates_no_home_folder(empty) -> None:
    told = plan(empty)
    missing = empty.error("plan", "--domain", "amemgym_base")
    assert "amemgym_base: none of its data sets is installed" in missing and "MEMFLOW_DATA" in missing
    assert "Download it with `memflow data get amemgym_v1_base`" in missing
    stages = list(dict.fromkeys(row["stage"] for row in told["stages"]))
    assert stages == ["state", "utterance", "question", "memory", "answer", "score"]
    assert not empty.folder.exists()


def test_planned_time_grows_with_latency_and_planned_cost_with_prices(empty, tmp_path) -> None:
    assert (
        plan(empty, "--latency", "2")["total"]["seconds"]
        == 2 * plan(empty, "--latency", "1")["total"]["seconds"]
    )
    (tmp_path / "memflow.toml").write_text(
        '[models.dear]\nurl = "http://127.0.0.1:9/v1"\nmodel = "a/b"\nprice_in = 10.0\nprice_out = 20.0\n',
        encoding="utf-8",
    )
    arguments = ("plan", "--domain", "amemgym_demo", "--memory", "full", "--limit", "1", "--model", "dear")
    total = empty.json(*arguments)["total"]
    expected = (total["prompt_tokens"] * 10 + total["completion_tokens"] * 20) / 1e6
    assert total["cost"] == pytest.approx(expected)
    assert total["most_cost"] > total["cost"] > 0


@pytest.mark.parametrize(("price", "cost"), [("", None), ("price_in = 0.0", 0.0)])
def test_planned_cost_is_unknown_unless_a_price_is_set(empty, tmp_path, price, cost) -> None:
    model = f'[models.local]\nurl = "http://127.0.0.1:9/v1"\nmodel = "a/b"\n{price}\n'
    (tmp_path / "memflow.toml").write_text(model, encoding="utf-8")
    arguments = ("plan", "--domain", "dialogues_demo", "--memory", "full", "--limit", "1", "--model", "local")
    assert empty.json(*arguments)["total"]["cost"] == cost
    shown = empty(*arguments).stdout
    assert ("The cost is unknown: no price is set or listed for local." in shown) is (cost is None)
    assert ("0.00" in shown) is (cost is not None)


def test_plan_command_names_a_memory_of_which_every_planned_read_fails(empty, tmp_path) -> None:
    (tmp_path / "failing_memory.py").write_text(FAILING, encoding="utf-8")
    command = ("plan", "--demo", "--domain", "amemgym_demo", "--limit", "1", "--memory", "none")
    command += ("--memory", "failing_memory:Failing")
    planned = empty.json(*command)
    [name] = planned["failing"]
    assert name == "amemgym_demo~1/failing" and planned["failing"][name].endswith("no index)")
    (tmp_path / "broken_memory.py").write_text(
        FAILING.replace("Failing", "Broken").replace("        pass", "        return len(None)"),
        encoding="utf-8",
    )
    shown = empty(*command, "--memory", "broken_memory:Broken").stdout
    assert "amemgym_demo~1/failing: every planned read or answer fails (recall for" in shown
    assert (
        "amemgym_demo~1/broken: the memory raised TypeError: object of type 'NoneType' has no len()" in shown
    )
    assert "By stage" in shown and "By assistant" in shown and "--latency" in shown


def test_plan_names_what_a_sample_leaves_out(empty) -> None:
    planned = empty.json("plan", "--domain", "memorybench_demo", "--memory", "full", "--limit", "1")
    assert planned["left_out"] == {
        "memorybench_demo~1": "without 1 training dialogue that no selected question needs"
    }
    assert {row["stage"] for row in planned["stages"]} == {"answer"}
    text = empty("plan", "--domain", "memorybench_demo", "--memory", "full", "--limit", "2").stdout
    assert "memorybench_demo~2 is a sample without" in text


def test_parameter_of_an_own_domain_keeps_proportional_training_cases(empty) -> None:
    Path("memflow.toml").write_text(
        '[own_domains.mine]\nbenchmark = "memorybench"\ndatasets = ["memorybench_sample"]\n'
        'parameters = { sample_training = "proportional" }\n',
        encoding="utf-8",
    )
    planned = empty.json("plan", "--domain", "mine", "--memory", "full", "--limit", "1")
    assert planned["left_out"] == {} and "feedback" in {row["stage"] for row in planned["stages"]}


def test_smoke_domain_needs_at_most_40_requests_and_40_000_prompt_tokens(empty) -> None:
    memories = [part for name in ("full", "bm25_message", "awi", "mem0") for part in ("--memory", name)]
    arguments = ("--domain", "dialogues_smoke", *memories, "--model", "scripted")
    planned = empty.json("plan", *arguments)["total"]
    assert 0 < planned["calls"] <= 40 and planned["prompt_tokens"] <= 40_000
    assert empty("run", *arguments).exit_code == 0
    assert empty.json("show", "usage")["total"]["calls"] == planned["calls"]


def plan_of_smoke(empty) -> dict[str, dict]:
    """Return the planned requests to a small model on the smoke domain, by role."""
    Path("memflow.toml").write_text(
        'embedder = { kind = "hashing" }\n[models.small]\nurl = "http://127.0.0.1:9/v1"\nmodel = "smollm2"\n'
        "[token_limits]\nassistant = { output = 48 }\nmemory = { output = 128 }\n",
        encoding="utf-8",
    )
    memories = [part for name in ("full", "bm25_message", "awi", "mem0") for part in ("--memory", name)]
    arguments = ("--domain", "dialogues_smoke", *memories, "--model", "small", "--no-baselines")
    return {row["role"]: row for row in empty.json("plan", *arguments)["stages"]}


def test_plan_of_the_smoke_domain_is_within_a_factor_of_a_run_of_a_real_model(empty) -> None:
    planned = plan_of_smoke(empty)
    # SmolLM2-135M-Instruct (Q4_1, llama.cpp), 2026-11-28: `memflow show usage`
    for role, calls, tokens in (("assistant", 15, 177), ("memory", 12, 1_693)):
        row = planned[role]
        assert 1 / 1.5 <= row["calls"] / calls <= 1.5
        assert 1 / 1.5 <= row["completion_tokens"] / tokens <= 1.5
        assert row["completion_tokens"] <= row["most_tokens"]
    assert planned["memory"]["retries"] > 0 == planned["assistant"]["retries"]


def test_plan_has_the_share_of_retries_that_the_ledger_has_of_the_model_in_a_role(empty) -> None:
    earlier = plan_of_smoke(empty)["memory"]
    account = replace(ACCOUNT, role="memory", model="small")
    with SqlLedger(load(over={"home": empty.folder}).ledger_url) as ledger:
        for number in range(15):
            retry = replace(request(str(number)), retry=number < 5)
            ledger.record_cache_hit(completion(key=str(number)), retry, account)
    planned = plan_of_smoke(empty)["memory"]
    first = earlier["calls"] - earlier["retries"]
    assert planned["calls"] - planned["retries"] == first
    assert abs(planned["retries"] - first / 2) <= 1, "each step is rounded"
    assert planned["retries"] > earlier["retries"]


def test_plan_warns_of_a_run_of_50_million_prompt_tokens_and_names_what_sends_most() -> None:
    rows = [
        {"domain": "beam_10m", "assistant": name, "prompt_tokens": tokens}
        for name, tokens in (("none", 1_000), ("mem0", 98_000_000))
    ]
    assert _warnings(rows, 49_999_999) == []
    [warning] = _warnings(rows, 98_001_000)
    assert "98,001,000 prompt tokens, of which beam_10m/mem0 sends 98,000,000" in warning
