"""Evidence recall of an embedder on LoCoMo's first conversations, without memflow's code, to compare with memflow.

    python -m bench.recall LOCOMO10.JSON http://127.0.0.1:8001/v1 MODEL [QUERY_PREFIX [PASSAGE_PREFIX [CONVERSATIONS]]]

It reads two conversations, or as many as CONVERSATIONS says.

The recall of a question is the share of its evidence messages among the k nearest messages; questions of category 5 and
without evidence are left out. The prefix `input_type=query` is the parameter of a server that adds prefixes itself.
"""

import json
import re
import sys
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import numpy.typing as npt


def embed(url: str, model: str, texts: list[str], prefix: str) -> npt.NDArray[np.float64]:
    """Return one vector of length 1 for each text."""
    rows: list[list[float]] = []
    parameter = {"input_type": "query"} if prefix == "input_type=query" else {}
    for start in range(0, len(texts), 64):
        batch = [("" if parameter else prefix) + text for text in texts[start : start + 64]]
        body = json.dumps({"model": model, "input": batch, **parameter}).encode()
        with urlopen(Request(f"{url}/embeddings", body, {"Content-Type": "application/json"})) as response:
            rows += [row["embedding"] for row in json.load(response)["data"]]
    vectors = np.array(rows)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def recalls(talk: dict[str, Any], questions: list[dict[str, Any]], *embedder: str) -> list[list[float]]:
    """Return the recall at 5 and at 10 of each question of a conversation."""
    url, model, query_prefix, passage_prefix = embedder
    texts = {
        turn["dia_id"]: f"[{talk[f'session_{number}_date_time']}] {turn['speaker']}: {turn['text']}"
        + (f" [shares an image: {turn['blip_caption']}]" if turn.get("blip_caption") else "")
        for number in range(1, 100)
        for turn in talk.get(f"session_{number}", [])
    }
    ids, asked = list(texts), [row for row in questions if row["category"] != 5 and row["evidence"]]
    passages = embed(url, model, list(texts.values()), passage_prefix)
    queries = embed(url, model, [row["question"] for row in asked], query_prefix)
    found = []
    for row, similarities in zip(asked, queries @ passages.T, strict=True):
        nearest = [ids[place] for place in np.argsort(-similarities, kind="stable")]
        cited = {f"D{int(a)}:{int(b)}" for a, b in re.findall(r"D:?(\d+):(\d+)", " ".join(row["evidence"]))}
        evidence = cited & set(ids)
        found.append([len(evidence & set(nearest[:k])) / len(evidence) for k in (5, 10)])
    return found


if __name__ == "__main__":
    path, *embedder, conversations = (*sys.argv[1:], *("", "", "2")[len(sys.argv) - 4 :])
    values = [
        value
        for conversation in json.loads(Path(path).read_text(encoding="utf-8"))[: int(conversations)]
        for value in recalls(conversation["conversation"], conversation["qa"], *embedder)
    ]
    print(
        json.dumps({"questions": len(values), "recall at 5, 10": np.mean(values, axis=0).round(4).tolist()})
    )
