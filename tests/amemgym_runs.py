"""Runs of AMemGym's published code: a folder as it writes it, of an agent that knows a random part of the states.

`published_metrics` repeats the rules of the published code, independently of memflow's.
"""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

KEY = "sk-a-key-of-the-recorded-run"
REPLY = "I remember what you told me, and here is what I would do. " * 62
"""A reply of the length that a real model writes: about 3,500 characters."""
CONFIG = {
    "type": "awi",
    "name": "small-awi",
    "llm_config": {"base_url": None, "api_key": KEY, "llm_model": "small model", "max_tokens": 8192},
    "agent_config": {"update_bsz": 2, "local_length": 4, "api_key": KEY},
}
FILES = ("overall_results.json", "diagnosis_results.json", "overall_metrics.json", "diagnosis_metrics.json")


def write_run(folder: Path, users: Sequence[dict[str, Any]], seed: int = 0) -> Path:
    """Write the run of an agent on users in the published format. Return the folder."""
    for user in users:
        mine = folder / user["id"]
        overall, diagnosis = _results(user, random.Random(f"{seed} {user['id']}"))
        contents = (overall, diagnosis, *published_metrics(overall, diagnosis))
        for name, content in [*zip(FILES, contents, strict=True), ("agent_config.json", CONFIG)]:
            write_json(mine / name, content)
        for number, period in enumerate(user["periods"]):
            sessions = [_messages(session, 1 + (number > 0)) for session in period["sessions"]]
            write_json(mine / "interactions" / f"period_{number:02d}.json", sessions)
    return folder


def read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def write_json(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def published_metrics(overall: Any, diagnosis: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the contents of overall_metrics.json and diagnosis_metrics.json, by period and question."""
    accuracy = [[each["scores"]["accuracy"] for each in period] for period in overall]
    counts: dict[str, list[list[int]]] = {"write_failure": [], "read_failure": [], "memory_success": []}
    for period in diagnosis:
        write, read = [0] * len(period), [0] * len(period)
        for number, each in enumerate(period):
            for at, value in enumerate(each["results"]):
                if value["score"] < 0.5:
                    written = diagnosis[value["write_pos"]][number]["results"][at]["score"] >= 0.5
                    (read if written else write)[number] += 1
        success = [int(w + r == 0) for w, r in zip(write, read, strict=True)]
        for name, values in zip(counts, (write, read, success), strict=True):
            counts[name].append(values)
    return {"accuracy": accuracy}, counts


def failure_rates(accuracy: Sequence[float], write: Sequence[int], read: Sequence[int]) -> dict[str, float]:
    """Return the failure rates of one user and period: a wrong answer is shared by the counts of its variables."""
    rates = {"write_failure": 0.0, "read_failure": 0.0, "utilization_failure": 0.0}
    for right, writes, reads in zip(accuracy, write, read, strict=True):
        if right != 1 and writes + reads == 0:
            rates["utilization_failure"] += 1
        elif right != 1:
            rates["write_failure"] += writes / (writes + reads)
            rates["read_failure"] += reads / (writes + reads)
    return {name: total / len(accuracy) for name, total in rates.items()}


def _messages(session: dict[str, Any], rounds: int) -> list[dict[str, str]]:
    first = {"role": "user", "content": f"[Current Time: {session['session_time']}]\n{session['query']}"}
    said = {"role": "assistant", "content": REPLY}
    return [first, said, *[{"role": "user", "content": "And then?"}, said] * (rounds - 1)]


def _results(user: dict[str, Any], chance: random.Random) -> tuple[list[Any], list[Any]]:
    overall, diagnosis = [], []
    written: dict[str, int] = {}
    for number, period in enumerate(user["periods"]):
        written |= dict.fromkeys(period["updates"], number)
        overall.append([_choice(asked, period["state"], chance) for asked in user["qas"]])
        diagnosis.append(
            [
                _states(
                    user["state_schema"], asked["required_info"], period["state"], written, number, chance
                )
                for asked in user["qas"]
            ]
        )
    return overall, diagnosis


def _choice(asked: dict[str, Any], state: dict[str, str], chance: random.Random) -> dict[str, Any]:
    options = asked["answer_choices"]
    truth = [state[name] for name in asked["required_info"]]
    gold = next(at for at, option in enumerate(options) if option["state"] == truth)
    chosen = chance.choice([gold, chance.randrange(len(options))])
    unread = chance.random() < 0.1
    return {
        "query": asked["query"],
        "answer": gold,
        "answer_state": truth,
        "answer_choice": options[gold]["answer"],
        "raw_response": "I cannot say." if unread else json.dumps({"answer": chosen + 1}),
        "response": chosen + 1,
        "response_state": options[chosen]["state"],
        "response_choice": options[chosen]["answer"],
        "json_error": unread,
        "llm_usage_statistics": {"input_tokens": 900, "output_tokens": 912, "time_elapsed": 0.5},
        "scores": {"accuracy": float(chosen == gold)},
    }


def _states(
    schema: dict[str, list[str]],
    names: Sequence[str],
    state: dict[str, str],
    written: dict[str, int],
    period: int,
    chance: random.Random,
) -> dict[str, Any]:
    stated = {name: chance.choice([state[name], state[name], *schema[name], None]) for name in names}
    values = [
        {
            "info_type": name,
            "json_error": stated[name] is None,
            "answer_state": state[name],
            "response_state": stated[name],
            "write_pos": written[name],
            "read_pos": period,
            "score": float(stated[name] == state[name]),
        }
        for name in names
    ]
    query = json.dumps({name: schema[name] for name in names}, indent=2) + "\n\nSelect the current values."
    return {"query": query, "raw_response": json.dumps(stated), "results": values}
