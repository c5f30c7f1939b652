"""A small report's data files, with known scores, as `memflow report` writes them."""

import base64
import gzip
import io
import json
import math
import random
from pathlib import Path
from typing import Any

import factories
import pyarrow as pa
import pyarrow.parquet as pq

from memflow.records import ProbeRetrieval
from memflow.resources.report.page import bundle, index_page
from memflow.resources.report.payload import json_script
from memflow.scoring.headroom import AT, headroom

TITLE = "memflow report"
ACCURACIES = {
    "none": 0.25,
    "recent": 0.42,
    "bm25_message": 0.58,
    "embed_message": 0.60,
    "rag_2_4_30": 0.66,
    "full": 0.71,
    "full@small": 0.52,
    "oracle": 0.94,
}
"""The probability that an assistant answers a probe correctly."""
DOMAINS = {
    "amemgym_demo": ("AMemGym, demo", "amemgym"),
    "amemgym_demo~1": ("AMemGym, demo", "amemgym"),
    "membench_demo": ("MemBench, demo", "membench"),
}
METRICS = [
    ("accuracy", "Accuracy", "Share of the probes whose answer is right.", "higher", [0, 1], True, True),
    ("latency", "Latency", "Mean seconds until the reply.", "lower", [0, None], False, False),
]
SLICES = ["all", "period 1", "period 2", "period 3", "dataset 中文 <b>"]
PROBES, CHECKPOINTS = 60, 3
MALICIOUS = "<img src=x onerror=\"document.title='taken'\">\u202e\x1b[31m"

Rows = list[dict[str, Any]]
SUSPECT = "rag_2_4_30"
"""The assistant whose health is suspect."""
STATEMENT = f"12 of {PROBES} reads failed"
COMPARISONS = math.comb(len(ACCURACIES), 2)
"""The number of pairs of assistants, over which p is adjusted."""


def write_report(folder: Path, *, scripted: bool = True, published: int = 3) -> Path:
    """Write a report and return the page to open."""
    return write_files(folder, data_files(scripted=scripted, published=published))


def write_files(folder: Path, files: dict[str, Any]) -> Path:
    """Write a report with these payloads by name and return the page to open."""
    scripts = {name: json_script(name, value) for name, value in files.items()}
    folder.mkdir(parents=True, exist_ok=True)
    page = folder / "index.html"
    page.write_bytes(index_page(TITLE))
    for name in ("app.js", "app.css"):
        (folder / name).write_bytes(bundle(name))
    for name, script in scripts.items():
        path = folder / "data" / f"{name}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(script)
    return page


def data_files(*, scripted: bool = True, published: int = 3) -> dict[str, Any]:
    """Return the payload of every data file by name."""
    verdicts = {name: domain_verdicts(name) for name in DOMAINS}
    scores = [row for name in DOMAINS for row in score_rows(name, verdicts[name], scripted)]
    files: dict[str, Any] = {
        "scores": table(scores),
        "comparisons": table([row for name in DOMAINS for row in comparison_rows(name, verdicts[name])]),
        "drift": table(drift_rows()),
        "history": table(history_rows(scores, published)),
        "headroom": {"at": list(AT), "rows": headroom_rows()},
        "costs": costs(),
        "health": table(health_rows()),
    }
    for name, rows in verdicts.items():
        files[f"verdicts/{name}"] = parquet(rows)
        files[f"probes/{name}"] = compressed(table(probe_rows(name)))
    return {"site": site(list(files), scripted), **files}


def site(names: list[str], scripted: bool) -> dict[str, Any]:
    """Return the description of the report."""
    keys = ("name", "title", "description", "direction", "range", "primary", "percent")
    return {
        "format": 1,
        "created": "2026-11-23T04:00:00+00:00",
        "memflow": "1.0.0",
        "title": "Memory systems, demo",
        "scripted": scripted,
        "as_of": None,
        "warnings": [],
        "texts": True,
        "files": names,
        "metrics": [{**dict(zip(keys, each, strict=True)), "unit": ""} for each in METRICS],
        "assistants": [
            {
                "name": each,
                "memory": each.split("@")[0],
                "model": each.partition("@")[2] or "scripted",
                "scripted": scripted,
            }
            for each in ACCURACIES
        ],
        "domains": [
            {
                "name": name,
                "title": title,
                "benchmark": benchmark,
                "sample": {"limit": 1, "size": 12} if "~" in name else None,
                "incomplete": ["data set zh is missing"] if name == "membench_demo" else [],
                "assistants": list(ACCURACIES),
                "scripted": list(ACCURACIES) if scripted else [],
                "languages": ["en", "zh"],
                "unit": "user",
                "metrics": [each[0] for each in METRICS],
                "primary": ["accuracy"],
                "checkpoints": [1, 2, 3],
                "slices": SLICES,
                "profile": None,
                "health": {SUSPECT: {"state": "suspect", "statement": STATEMENT}},
            }
            for name, (title, benchmark) in DOMAINS.items()
        ],
    }


def domain_verdicts(domain: str) -> Rows:
    """Return one row per assistant and probe, right with the assistant's probability."""
    rows = []
    for assistant, probability in ACCURACIES.items():
        draw = random.Random(f"{domain} {assistant}")
        for number in range(PROBES):
            right = draw.random() < probability
            rows.append(
                {
                    "assistant": assistant,
                    "probe": f"p{number:03}",
                    "episode": f"user {number % 12}",
                    "checkpoint": number % CHECKPOINTS + 1,
                    "dataset": None,
                    "category": None,
                    "metric": "accuracy",
                    "variant": "standard",
                    "value": None if number == 7 and assistant == "recent" else float(right),
                    "reason": "the reply has no answer" if number == 7 and assistant == "recent" else None,
                    "failure": None if right else draw.choice(["write", "read", "utilization"]),
                    "cut": False,
                }
            )
    return rows


def score_rows(domain: str, verdicts: Rows, scripted: bool) -> Rows:
    """Return the leaderboard's rows: accuracy by slice and latency."""
    rows = []
    for order, assistant in enumerate(ACCURACIES):
        ours = [each for each in verdicts if each["assistant"] == assistant and each["value"] is not None]
        for number, name in enumerate(SLICES):
            values = [each["value"] for each in ours if number in (0, 4) or each["checkpoint"] == number]
            value = sum(values) / len(values)
            rows.append(_score(domain, assistant, "accuracy", name, value, len(values), scripted))
        rows.append(_score(domain, assistant, "latency", "all", 0.5 + order / 10, len(ours), scripted))
    best = sorted(
        (row for row in rows if row["metric"] == "accuracy" and row["slice"] == "all"),
        key=lambda row: -row["value"],
    )
    for rank, row in enumerate(best, 1):
        row["rank_low"], row["rank_high"] = max(1, rank - 1), min(len(best), rank + 1)
    return rows


def _score(
    domain: str, assistant: str, metric: str, name: str, value: float, n: int, scripted: bool
) -> dict[str, Any]:
    lacks = "1 reply without an answer" if assistant == "recent" else None
    return {
        "domain": domain,
        "assistant": assistant,
        "memory": assistant.split("@", maxsplit=1)[0],
        "model": assistant.partition("@")[2] or "scripted",
        "metric": metric,
        "variant": "standard",
        "slice": name,
        "value": value,
        "low": value * 0.85,
        "high": value * 1.0 + (1 - value) * 0.2 if value < 1 else 1.0,
        "judge_low": None,
        "judge_high": None,
        "n": n,
        "planned": n + (lacks is not None),
        "n_episodes": 12,
        "coverage": 1.0,
        "scripted": scripted,
        "injected_tokens": 120.0,
        "differing_settings": "k = 5, the others 10" if assistant == "rag_2_4_30" else None,
        "incomplete": lacks,
        "health": "suspect" if assistant == SUSPECT else "ok",
        "health_reason": STATEMENT if assistant == SUSPECT else None,
        "reason": None,
        "rank_low": None,
        "rank_high": None,
    }


def headroom_rows() -> list[dict[str, Any]]:
    """Return the retrieval headroom of one assistant, which differs equally in all episodes."""
    rankings = {"memory": 0.5, "hybrid": 1.0, "vector": 0.5, "text": 0.75, "random": 0.1}
    rows = [
        factories.row(
            ProbeRetrieval,
            probe_id=f"p{at}",
            episode_id=f"u{at}",
            ranking=ranking,
            evidence=2,
            stored=2,
            recalled=recalled + at % 2,
            ranks=[1.0],
            read=0.75 - at % 2 / 2,
            avoided=(recalled - 0.5) / 2,
        )
        for at in range(6)
        for ranking, recalled in rankings.items()
    ]
    return [headroom(next(iter(DOMAINS)), "full", rows).values]


def health_rows() -> Rows:
    """Return two measures of every assistant; one of the suspect assistant is an alarm, with examples."""
    rows = []
    for domain in DOMAINS:
        for assistant in ACCURACIES:
            alarm = assistant == SUSPECT
            same = {"domain": domain, "assistant": assistant, "percentiles_s": [], "reason": None}
            rows += [
                {
                    **same,
                    "measure": "failed_reads",
                    "state": "suspect" if alarm else "ok",
                    "value": 0.2 * alarm,
                    "n": PROBES,
                    "affected": 12 * alarm,
                    "statement": STATEMENT if alarm else f"0 of {PROBES} reads failed",
                    "examples": ["p001", "entry <b>1</b>"] if alarm else [],
                },
                {
                    **same,
                    "measure": "failed_writes",
                    "state": "not measurable",
                    "value": None,
                    "n": 0,
                    "affected": 0,
                    "statement": "not measurable: nothing was written",
                    "examples": [],
                    "reason": "nothing was written",
                },
            ]
    return rows


def comparison_rows(domain: str, verdicts: Rows) -> Rows:
    """Return the paired difference of every two assistants, with an interval of fixed width."""
    values = {(row["assistant"], row["probe"]): row["value"] for row in verdicts}
    points = {row["probe"]: row["checkpoint"] for row in verdicts}
    rows = []
    names = list(ACCURACIES)
    for a in names:
        for b in names[names.index(a) + 1 :]:
            for number, name in enumerate(SLICES[:4]):
                probes = [each for each, at in points.items() if number in (0, at)]
                pairs = [(values[a, each], values[b, each]) for each in probes]
                both = [(x, y) for x, y in pairs if x is not None and y is not None]
                n = len(both)
                mean_a, mean_b = sum(x for x, _ in both) / n, sum(y for _, y in both) / n
                width = 0.12 if number == 0 else 0.2
                difference = mean_a - mean_b
                clear = abs(difference) > width
                rows.append(
                    {
                        "domain": domain,
                        "metric": "accuracy",
                        "variant": "standard",
                        "slice": name,
                        "a": a,
                        "b": b,
                        "value_a": mean_a,
                        "value_b": mean_b,
                        "difference": difference,
                        "low": difference - width,
                        "high": difference + width,
                        "p": 0.004 if clear else 0.3,
                        "p_adjusted": 0.02 if clear else 0.8,
                        "family": COMPARISONS,
                        "n": n,
                        "n_episodes": 12,
                        "unpaired_a": sum(y is None for _, y in pairs),
                        "unpaired_b": sum(x is None for x, _ in pairs),
                        "episodes_needed": None if clear else 140,
                        "better": ("a" if difference > 0 else "b") if clear else None,
                        "reason": None,
                    }
                )
    return rows


def probe_rows(domain: str) -> Rows:
    """Return the probes; one question holds text that looks like markup."""
    return [
        {
            "probe": f"p{number:03}",
            "episode": f"user {number % 12}",
            "checkpoint": number % CHECKPOINTS + 1,
            "kind": "choice",
            "dataset": None,
            "category": None,
            "language": "zh" if number % 2 else "en",
            "question": f"{MALICIOUS} {number}?" if number == 3 else f"周末你会做什么？({number})",
            "options": ["a", "b"],
            "gold": "a",
            "evidence": [],
            "slices": [0, number % CHECKPOINTS + 1],
            "reason": None,
            "variables": [],
            "asked_at": None,
        }
        for number in range(PROBES)
    ]


def drift_rows() -> Rows:
    """Return one score that moved, by changed users above all, and one that did not."""
    same = {
        "domain": "amemgym_demo",
        "published_at": "2026-11-22T09:00:00+00:00",
        "before_at": "2026-11-20T09:00:00+00:00",
        "changes": ["simulator: small-1 (0a1b) -> large-2 (2c3d)"],
        "metric": "accuracy",
        "variant": "standard",
        "slice": "all",
        "reason": None,
    }
    columns = (
        "assistant",
        "before",
        "after",
        "difference",
        "low",
        "high",
        "p_adjusted",
        "users",
        "answers",
        "judging",
        "moved",
        "improved",
    )
    scores = [
        ("full", 0.71, 0.58, -0.13, -0.2, -0.06, 0.002, -0.11, -0.03, 0.01, True, False),
        ("recent", 0.42, 0.43, 0.01, -0.05, 0.07, 0.7, 0.02, -0.01, 0.0, False, True),
    ]
    return [same | dict(zip(columns, each, strict=True)) for each in scores]


def history_rows(scores: Rows, published: int) -> Rows:
    """Return the primary scores of several publications; the last is the present one."""
    return [
        row
        | {
            "value": row["value"] - 0.03 * (published - 1 - number),
            "published_at": f"2026-11-{20 + number:02}T09:00:00+00:00",
            "publication": f"publication {number}",
            "run": f"run{number}",
            "judge": None,
        }
        for row in scores
        if row["metric"] == "accuracy" and row["slice"] == "all"
        for number in range(published)
    ]


def costs() -> dict[str, Rows]:
    """Return the usage of every assistant; `none` has no price."""
    usage, totals = [], []
    for domain in DOMAINS:
        for order, assistant in enumerate(ACCURACIES, 1):
            spent = {
                "requests": 60,
                "prompt_tokens": 9000 * order**2,
                "completion_tokens": 1200,
                "seconds": 30.0 * order,
                "cost": None if assistant == "none" else 0.012 * order**2,
            }
            usage.append(
                {"domain": domain, "assistant": assistant, "stage": "answer", "role": "assistant"}
                | {"model": "scripted", "failed": 0, "cut": 0}
                | spent
            )
            totals.append({"domain": domain, "assistant": assistant, "probes": PROBES} | spent)
    return {"usage": usage, "totals": totals}


def table(rows: Rows) -> dict[str, Any]:
    """Return the columns and rows of records with the same keys."""
    columns = list(rows[0]) if rows else []
    return {"columns": columns, "rows": [[row[column] for column in columns] for row in rows]}


def compressed(value: Any) -> str:
    """Return gzip'd JSON in base64."""
    return base64.b64encode(gzip.compress(json.dumps(value).encode())).decode()


def parquet(rows: Rows) -> str:
    """Return a Parquet file in base64."""
    types = {"checkpoint": pa.int32(), "value": pa.float64(), "cut": pa.bool_()}
    schema = pa.schema([pa.field(key, types.get(key, pa.string())) for key in rows[0]])
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), buffer, compression="zstd")
    return base64.b64encode(buffer.getvalue()).decode()
