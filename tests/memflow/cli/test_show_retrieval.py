"""`memflow run --retrieval-only` and `memflow show retrieval`, on dialogues that ship with memflow."""

import json
import math
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import factories
import pytest

import memflow.benchmarks.dialogues
from memflow.errors import BadInput
from memflow.operations.front import Front
from memflow.operations.retrieval_only import require_evidence
from memflow.records import Probe
from memflow.resources.report.redaction import Redaction
from memflow.resources.report.scores import retrieval_file
from memflow.resources.report.source import ReportOptions
from memflow.words import search_words
from tests.memflow.cli.conftest import Home

DOMAIN = "dialogues_demo"
SAMPLE = Path(memflow.benchmarks.dialogues.__file__).with_name("sample") / "dialogues.jsonl"


@pytest.fixture(scope="module")
def measured_retrieval(tmp_path_factory):
    home = Home(tmp_path_factory.mktemp("retrieval") / "home")
    memories = ("--memory", "bm25_message", "--memory", "recent")
    result = home("run", "--retrieval-only", "--domain", DOMAIN, *memories)
    assert result.exit_code == 0, result.output
    return home, result.stdout


@pytest.fixture
def home(measured_retrieval):
    """Return a home whose retrieval was measured. No test changes it."""
    return measured_retrieval[0]


def bm25_recall(k: int) -> float:
    """Return the mean recall at k of BM25 (Lucene's formula) over the file, by means of none of memflow's searches."""
    recalls = []
    for dialogue in map(json.loads, SAMPLE.read_text(encoding="utf-8").splitlines()):
        for question in dialogue["questions"]:
            messages = dialogue["messages"]
            last = [
                number
                for number, row in enumerate(messages)
                if row["time"] <= question.get("date", "9999")
                and question.get("session") in (None, row["session"])
                and question.get("after") in (None, row["id"])
            ][-1]
            messages = messages[: last + 1]
            documents = {
                row["id"]: Counter(
                    search_words(f"[{row['time']}] {row.get('speaker') or row['role']}: {row['text']}")
                )
                for row in messages
            }
            mean = sum(sum(words.values()) for words in documents.values()) / len(documents)
            scores = dict.fromkeys(documents, 0.0)
            for word in search_words(question["question"]):
                having = sum(word in words for words in documents.values())
                for name, words in documents.items():
                    norm = 1.2 * (0.25 + 0.75 * sum(words.values()) / mean)
                    weight = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
                    scores[name] += weight * words[word] / (words[word] + norm)
            best = [name for name in sorted(scores, key=lambda name: -scores[name]) if scores[name] > 0][:k]
            evidence = question.get("evidence") or []
            if evidence:
                recalls.append(len({*best} & {*evidence}) / len(evidence))
    return sum(recalls) / len(recalls)


def test_recall_is_that_of_a_script_over_the_published_file(home):
    [bm25] = [row for row in home.json("show", "retrieval") if row["assistant"] == "bm25_message"]
    scores = {(row["metric"], row["k"]): row for row in bm25["scores"] if row["slice"] == "all"}
    for k in (1, 3, 5, 10):
        assert scores["recall", k]["value"] == pytest.approx(bm25_recall(k), abs=1e-9), k
    assert bm25["label"] is None and scores["recall", 5]["low"] < scores["recall", 5]["value"]
    assert scores["own_recall", None]["value"] == scores["recall", 5]["value"], "its own k is 5"


def test_no_answer_is_requested_and_no_score_of_answers_exists(home, measured_retrieval):
    summary = measured_retrieval[1].split("Of the evidence messages")[0]
    assert "real retrieval" in summary and "accuracy" not in summary
    for table in ("answer.replies", "score.verdicts", "score.attributions", "score.leaderboard"):
        assert not home.lake.partitions(table), table
    assert home.json("show", "usage")["usage"] == []
    shown = home("show", "leaderboard").stdout
    assert "recall at k" in shown and "accuracy" not in shown.split("Of the evidence messages")[0]
    rows = home.json("sql", "SELECT count(*) AS n FROM score.rankings WHERE reason IS NULL")
    assert rows == [{"n": 108}]


def test_second_run_measures_nothing_again(home):
    again = home("run", "--retrieval-only", "--domain", DOMAIN, "--memory", "bm25_message")
    assert "0 runs done, 3 up to date" in again.stdout


def test_slices_and_other_metrics_are_shown(home):
    assert "language zh" in home("show", "retrieval", DOMAIN, "--by", "language", "--metric", "mrr").stdout
    assert "evidence in the last third" in home("show", "retrieval", "--by", "position").stdout
    assert "type changed" in home("show", "retrieval", "--by", "type").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--domain", DOMAIN, "--memory", "mem0"), "the memory mem0 needs a chat model.*bm25_message"),
        (("--domain", DOMAIN, "--memory", "none"), "the memory none recalls nothing"),
        (
            ("--domain", DOMAIN, "--assistant", "bm25_message@scripted"),
            "needs no model.*--memory bm25_message",
        ),
        (
            (
                "--domain",
                "amemgym_demo",
            ),
            "the assistant's own replies are part of the dialogues",
        ),
        (
            (
                "--domain",
                "memorybench_demo_onpolicy",
            ),
            "the assistant's own replies are part of the dialogues",
        ),
    ],
)
def test_what_needs_a_chat_model_is_refused_in_a_sentence(empty, arguments, message):
    assert_matches(empty.error("run", "--retrieval-only", *arguments), message)


def test_domain_without_evidence_is_refused_before_it_is_played(empty):
    empty.write(
        "question.probes", "d", [factories.row(Probe, evidence=[]), factories.row(Probe, split="train")]
    )
    with pytest.raises(BadInput, match=r"d names no evidence messages.*Choose another domain"):
        require_evidence(empty.lake, "d")
    empty.write("question.probes", "e", [factories.row(Probe, evidence=["m1"])])
    require_evidence(empty.lake, "e")


def test_retrieval_of_nothing_names_the_command(empty):
    assert "memflow run --demo" in empty.error("show", "retrieval")


def assert_matches(text: str, pattern: str) -> None:
    assert re.search(pattern, " ".join(text.split())), text


def test_plan_of_retrieval_only_has_no_request(home) -> None:
    planned = home.json("plan", "--retrieval-only", "--domain", DOMAIN, "--memory", "bm25_message")
    assert planned["total"]["calls"] == 0
    assert planned["assumptions"][-1] == f"retrieval is measured without requests: bm25_message in {DOMAIN}"


def test_report_has_the_retrieval_of_the_command(home) -> None:
    settings = Front(home=home.folder).load()
    source = SimpleNamespace(
        settings=settings, lake=home.lake, options=ReportOptions(), redaction=Redaction()
    )
    rows = {row["assistant"]: row for row in retrieval_file(source)}
    shown = {row["assistant"]: row for row in home.json("show", "retrieval")}
    assert rows.keys() == shown.keys() == {"bm25_message", "recent"}
    whole = [score for score in shown["bm25_message"]["scores"] if score["slice"] == "all"]
    assert rows["bm25_message"]["scores"] == whole
    source.options = ReportOptions(assistants=["recent"])
    assert [row["assistant"] for row in retrieval_file(source)] == ["recent"]
