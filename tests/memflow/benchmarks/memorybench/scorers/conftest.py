import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import factories
import numpy as np
import numpy.typing as npt
import pytest

from memflow.benchmarks.memorybench.scorers.registry import scorer_of
from memflow.benchmarks.memorybench.scorers.scorer import AnsweredProbe, ScoringContext, in_order
from memflow.benchmarks.memorybench.scorers.scripted import HANDLERS
from memflow.benchmarks.memorybench.tasks.catalog import task
from memflow.benchmarks.verdicts import MetricValue
from memflow.chat.requests import ChatRequest, Completion
from memflow.chat.scripted import Handler, ScriptedChat
from memflow.fingerprint import seeded
from memflow.metrics.backends import MetricBackends
from memflow.records import Probe

LEGAL = {"judge", "lexeval_qa", "lexeval_judge", "lexeval_summarization"}


class Judge(ScriptedChat):
    """A judge with handlers, some set by the test, that records its requests."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        super().__init__({**HANDLERS, **handlers})
        self.requests: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> Completion:
        self.requests.append(request)
        return await super().complete(request)

    def fields(self, stem: str) -> list[Mapping[str, Any]]:
        return [request.fields for request in self.requests if request.prompt == f"memorybench/{stem}"]


class Words:
    """An encoder with one unit vector per word; equal words have equal vectors."""

    name, layer, fingerprint = "words", 1, "words"

    async def encode(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
        return [np.stack([_vector(word) for word in ("[", *text.lower().split(), "]")]) for text in texts]


def _vector(word: str) -> npt.NDArray[np.float32]:
    drawn = np.random.default_rng(seeded("vector", word)).normal(size=64)
    return (drawn / np.linalg.norm(drawn)).astype(np.float32)


class Twins:
    """Synonyms in which dog and hound have the same meaning."""

    def of(self, word: str) -> frozenset[str]:
        return frozenset({"dog", "hound"}) if word in ("dog", "hound") else frozenset()


@pytest.fixture
def judge() -> Callable[..., Judge]:
    """Return a judge. Keyword arguments are answers or handlers, named by the stem of the prompt."""

    def make(**answers: Any) -> Judge:
        def handler(answer: Any) -> Handler:
            if callable(answer):
                return answer
            text = answer if isinstance(answer, str) else json.dumps(answer)
            return lambda request: text

        return Judge({f"memorybench/{stem}": handler(answer) for stem, answer in answers.items()})

    return make


@pytest.fixture
def encoders() -> dict[str, Words]:
    return {"en": Words(), "zh": Words()}


@pytest.fixture
def synonyms() -> Twins:
    return Twins()


@pytest.fixture
def probe_of() -> Callable[..., Probe]:
    """Return a test probe of a task. Gold that is not a string becomes JSON."""

    def make(dataset: str, gold: Any = "{}", question: str = "What is it?", **more: Any) -> Probe:
        return factories.probe(
            probe_id=f"{dataset}/0", episode_id="dialogues", kind="open", dataset=dataset,
            language="zh" if dataset in LEGAL else "en", metric=task(dataset).metric, question=question,
            gold=gold if isinstance(gold, str) else json.dumps(gold), **more,
        )  # fmt: skip

    return make


@pytest.fixture
def marks_of() -> Callable[..., Any]:
    """Return the results of an answer by metric and variant, and assert that they are the declared ones."""

    async def measure(
        probe: Probe,
        answer: str,
        judge: Any = None,
        *,
        published: bool = False,
        place: int = 0,
        **backends: Any,
    ) -> dict[tuple[str, str], MetricValue]:
        context = ScoringContext(MetricBackends(judge, **backends), published, 42)
        metric, answered = scorer_of(task(probe.dataset)), AnsweredProbe(probe, answer, place)
        computed = await metric.compute(answered, context)
        values = [*computed.values, *await metric.judge(answered, context, computed)]
        keys = metric.metric_keys(probe, context)
        assert {value.key for value in values} <= {*keys}
        found = {mark.key: mark for mark in in_order(values, keys, metric.missing(context))}
        assert all((mark.value is None) == (mark.reason is not None) for mark in found.values())
        return found

    return measure


@pytest.fixture
def judgment() -> str:
    """Return an invented criminal judgment."""
    return (
        "某某市人民法院刑事判决书。公诉机关指控：被告人甲某盗窃手机一部。"
        "本院认为，被告人甲某以非法占有为目的，秘密窃取他人财物，其行为已构成盗窃罪。"
        "依照《中华人民共和国刑法》第二百六十四条、第五十二条之规定，判决如下："
        "被告人甲某犯盗窃罪，判处有期徒刑一年，并处罚金人民币二千元。"
        "如不服本判决，可在接到判决书的第二日起十日内提出上诉。审判员乙某"
    )
