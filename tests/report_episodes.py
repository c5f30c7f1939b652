"""A report with everything that the pages of probes, memories, domains and runs show, for tests of these pages.

The dialogue is long. Every text is malicious: markup, control characters, marks of direction, in English and Chinese.
"""

from typing import Any

from report_files import METRICS, Rows, compressed, parquet, table

DOMAIN, EPISODE = "amemgym_demo", "李雷 <b>"
MALICIOUS = (
    "<img src=x onerror=\"document.title='taken'\"><svg onload=\"document.title='taken'\">"
    "</script><script>document.title='taken'</script>\x1b[31m\x07\u202etxt.exe\u2066 你好"
)
ASSISTANTS = ("none", "bm25", "mem<b>")
MESSAGES, ENTRIES, CHECKPOINTS, PROBES = 20_000, 10_000, 3, 30
EVIDENCE = (50, 12_345, 19_990)
"""Positions of the messages that are the evidence of every probe."""
LONG_REPLY = "很长的回答。" * 800


def message_id(number: int) -> str:
    """Return the id of a message."""
    return f"{EPISODE}/{number}"


def verdict_rows() -> Rows:
    """Return verdicts of two metrics: a share, and `error`, which is better the lower it is."""
    rows = []
    for order, assistant in enumerate(ASSISTANTS):
        for number in range(PROBES):
            value = [1.0, 0.0, 0.5, None][(number * (order + 1) + order) % 4]
            for metric in ("accuracy", "error"):
                rows.append(
                    {
                        "assistant": assistant,
                        "probe": f"p{number}",
                        "episode": EPISODE,
                        "checkpoint": number % CHECKPOINTS,
                        "dataset": f"set {number % 2}",
                        "category": None if number % 5 == 0 else f"category {number % 3}",
                        "metric": metric,
                        "variant": "judge_b" if number % 7 == 0 else "standard",
                        "value": value if value is None or metric == "accuracy" else 1.0 - value,
                        "reason": None if value is not None else "the reply has no answer",
                        "failure": ["write", "read", "utilization"][number % 3] if value == 0.0 else None,
                        "cut": False,
                    }
                )
    return rows


def probe_rows() -> Rows:
    """Return the probes. Some are choices, some are open."""
    return [
        {
            "probe": f"p{number}",
            "episode": EPISODE,
            "checkpoint": number % CHECKPOINTS,
            "kind": "choice" if number % 2 else "open",
            "dataset": f"set {number % 2}",
            "category": None if number % 5 == 0 else f"category {number % 3}",
            "language": "zh",
            "question": f"{MALICIOUS} {'garden' if number % 4 else '花园'} {number}?",
            "options": [MALICIOUS, "two"] if number % 2 else [],
            "gold": "1" if number % 2 else MALICIOUS,
            "evidence": [message_id(each) for each in EVIDENCE],
            "variables": ["time"],
            "asked_at": None,
            "after": None,
            "metric": "accuracy",
            "parent": None,
            "question_id": None,
            "reason": None,
            "slices": [0, 1 + number % 2],
        }
        for number in range(PROBES)
    ]


def data_files() -> dict[str, Any]:
    """Return the payload of every data file by name."""
    results = {
        name: {
            "contents": [f"System. {MALICIOUS}", ["Begin ", 5000, " end"], _text(EVIDENCE[1])],
            "episodes": {EPISODE: _results(name)},
        }
        for name in ASSISTANTS
    }
    files: dict[str, Any] = {
        "scores": table(_scores()),
        **{name: table([]) for name in ("comparisons", "drift", "history")},
        "headroom": {"at": [], "rows": []},
        "costs": {"usage": [_usage(name) for name in ASSISTANTS], "totals": []},
        f"verdicts/{DOMAIN}": parquet(verdict_rows()),
        f"probes/{DOMAIN}": compressed(table(probe_rows())),
        f"domains/{DOMAIN}": compressed(_domain()),
        f"episodes/{DOMAIN}/0": compressed({EPISODE: _episode()}),
        "runs": compressed([_run(name) for name in ASSISTANTS]),
    }
    files |= {
        f"results/{DOMAIN}/{name.replace('<', '=3c').replace('>', '=3e')}/0": compressed(each)
        for name, each in results.items()
    }
    return {"site": _site([*files]), **files}


def _text(number: int) -> str:
    return f"Message number {number}. {MALICIOUS}"


def _point(number: int) -> int:
    return number * CHECKPOINTS // MESSAGES


def _message(number: int) -> dict[str, Any]:
    return {
        "message_id": message_id(number),
        "checkpoint": _point(number),
        "role": "assistant" if number % 2 else "user",
        "speaker": MALICIOUS if number == EVIDENCE[0] else None,
        "text": _text(number),
        "sent_at": None,
        "reason": None,
    }


def _entry(number: int) -> dict[str, Any]:
    """Return an entry: the second half of the entries are versions of the first half."""
    half = ENTRIES // 2
    return {
        "entry_id": f"e{number}",
        "kind": "fact" if number % 3 else "summary",
        "text": f"Entry {number}. {MALICIOUS}" if number % 2 else f"记忆 {number}",
        "sources": [message_id(number)],
        "since": number + 1 if number < half else 15_000,
        "until": 15_000 if number < half else None,
        "previous": f"e{number - half}" if number >= half else None,
        "role": None,
    }


def _results(assistant: str) -> dict[str, Any]:
    stores = assistant != "none"
    reply = {
        "text": LONG_REPLY if assistant == "bm25" else MALICIOUS,
        "parsed": "2",
        "recalled": [f"e{number}" for number in range(5000, 5040)] if stores else [],
        "recalled_sources": [message_id(EVIDENCE[1])] if stores else [],
        "ranked": [],
        "prompt_tokens": 100,
        "completion_tokens": 7,
        "thoughts_tokens": 12,
        "latency_s": 1.5,
        "cut": False,
        "attempts": 1,
        "injected_tokens": 9,
        "dropped_tokens": 0,
        "dropped_messages": 0,
        "recall_failures": [],
        "reason": None,
        "prompt": [["system", 0], ["user", 1], ["user", 2]],
        "prompt_reason": None,
        "sequence": 16_000,
    }
    verdict = {"metric": "accuracy", "variant": "standard", "value": 0.0, "reason": None} | {
        "judge_reply": MALICIOUS,
        "judge_reason": None,
    }
    said = [
        {**_message(number), "sequence": number, "origin": "given", "cut": False}
        for number in range(MESSAGES)
    ]
    return {
        "messages": said if stores else [],
        "entries": [_entry(number) for number in range(ENTRIES)] if stores else [],
        "checkpoints": {"0": 6667, "1": 13334, "2": 20000},
        "replies": {f"p{number}": reply for number in range(PROBES)},
        "verdicts": {f"p{number}": [verdict] for number in range(PROBES)},
        "claims": [
            {
                "claim_id": "c",
                "checkpoint": 2,
                "variant": "standard",
                "text": MALICIOUS,
                "value": 1.0,
                "held_tokens": 5,
                "reason": None,
            }
        ],
    }


def _episode() -> dict[str, Any]:
    changes = [
        {
            "checkpoint": at,
            "date": "2026-01-01",
            "old": old,
            "value": value,
            "event": MALICIOUS,
            "summary": None,
        }
        for at, old, value in ((0, None, "weekends"), (2, "weekends", MALICIOUS))
    ]
    entity = {
        "entity_id": "x",
        "kind": "item",
        "name": MALICIOUS,
        "relationship": "owns",
        "attributes": {"color": MALICIOUS},
    }
    return {
        "profile": {"user_id": EPISODE, "name": MALICIOUS, "profile": MALICIOUS},
        "states": [
            {"variable": "time", "choices": ["weekends", "evenings"], "questions": [], "changes": changes}
        ],
        "turns": [
            {**_message(number), "event": number, "position": 0, "kind": "given", "exposes": None}
            for number in range(MESSAGES)
        ],
        "entities": [entity],
    }


def _domain() -> dict[str, Any]:
    check = {
        "table": "question.probes",
        "severity": "error",
        "rule": "unique_keys",
        "property": MALICIOUS,
        "rows": 3,
        "unexpected": 1,
    }
    return {
        "users": [{"user_id": EPISODE, "name": MALICIOUS, "profile": MALICIOUS}],
        "episodes": [
            {
                "episode": EPISODE,
                "shard": 0,
                "messages": MESSAGES,
                "probes": PROBES,
                "checkpoints": CHECKPOINTS,
            }
        ],
        "checks": [
            {**check, "offending": [], "result": result, "note": None} for result in ("passed", "failed")
        ],
        "quarantined": [{"table": "question.probes", "key": MALICIOUS, "reason": MALICIOUS, "count": 1}],
        "incomplete": "one user is missing",
        "datasets": [
            {"name": "set 0", "title": None, "licence": "MIT", "origin": MALICIOUS, "may_be_shared": True}
        ],
    }


def _run(assistant: str) -> dict[str, Any]:
    return {
        "domain": DOMAIN,
        "assistant": assistant,
        "run": "run 1",
        "started": "2026-11-23T04:00:00+00:00",
        "scripted": True,
        "model": "scripted",
        "embedder": "hashing" if assistant == "bm25" else None,
        "window": None,
        "self_judges": [],
        "memory_parameters": {"k": 5} if assistant == "bm25" else {},
        "protocol": {"language": MALICIOUS},
        "models": [{"role": "assistant", "model": "scripted", "fingerprint": "0a1b"}],
        "prompts": [{"role": "assistant", "prompt": "amemgym/choice"}],
        "requests": 30,
        "inputs": {"question.probes": {"content": "c0ffee", "fingerprint": "f00d", "rows": PROBES}},
    }


def _usage(assistant: str) -> dict[str, Any]:
    amounts = {
        "requests": 30,
        "failed": 0,
        "cut": 0,
        "prompt_tokens": 900,
        "completion_tokens": 70,
        "seconds": 1.0,
        "cost": None,
    }
    return {
        "domain": DOMAIN,
        "assistant": assistant,
        "stage": "answer",
        "role": "assistant",
        "model": "scripted",
    } | amounts


def _scores() -> Rows:
    same = {
        "domain": DOMAIN,
        "metric": "accuracy",
        "variant": "standard",
        "slice": "all",
        "model": "scripted",
    }
    numbers = {
        "value": 0.4,
        "low": 0.3,
        "high": 0.5,
        "n": PROBES,
        "planned": PROBES,
        "n_episodes": 1,
        "coverage": 1.0,
    }
    empty = dict.fromkeys(
        ("judge_low", "judge_high", "differing_settings", "incomplete", "reason", "rank_low", "rank_high")
    )
    return [
        {**same, **numbers, **empty, "assistant": name, "memory": name, "scripted": True}
        for name in ASSISTANTS
    ]


def _site(names: list[str]) -> dict[str, Any]:
    keys = ("name", "title", "description", "direction", "range", "primary", "percent")
    metrics = [METRICS[0], ("error", "Error", "Share of what is wrong.", "lower", [0, 1], False, True)]
    domain = {
        "name": DOMAIN,
        "title": "Long dialogues",
        "benchmark": "AMemGym",
        "sample": None,
        "incomplete": [],
        "assistants": [*ASSISTANTS],
        "languages": ["en", "zh"],
        "unit": "users",
        "metrics": ["accuracy", "error"],
        "primary": ["accuracy"],
        "checkpoints": [*range(CHECKPOINTS)],
        "slices": ["all", "even", "odd <b>"],
        "profile": "paper",
    }
    return {
        "format": 1,
        "created": "2026-11-23T04:00:00+00:00",
        "memflow": "1.0.0",
        "title": "Long dialogues",
        "scripted": True,
        "as_of": None,
        "warnings": [],
        "texts": True,
        "files": names,
        "domains": [domain],
        "assistants": [
            {"name": name, "memory": name, "model": "scripted", "scripted": True} for name in ASSISTANTS
        ],
        "metrics": [{**dict(zip(keys, each, strict=True)), "unit": ""} for each in metrics],
    }
