"""Annotation by two models: questions with disagreements are dropped, and no request is repeated."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memflow.benchmarks.comem.annotation.rounds import annotate
from memflow.benchmarks.comem.answers import UNKNOWN_CHOICE, Finding, Review
from memflow.benchmarks.comem.benchmark import CoMem
from memflow.benchmarks.comem.config import CoMemConfig
from memflow.benchmarks.comem.contexts import Context, ContextMessage, ContextQuestion
from memflow.benchmarks.comem.probes import make_probes
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import find_domain
from memflow.benchmarks.step_values import Annotators
from memflow.chat.requests import ChatRequest, Completion, Sampling, TokenBound
from memflow.errors import BadSettings, BudgetSpent
from memflow.records import GoldLabel, Probe, Record

Made = Callable[..., Context]
DOMAIN = Domain("d", "comem", (), "")
OPTIONS = ("a", "b", "c", "I don't know.")
NOT_JSON = "no JSON"


@dataclass
class Planted:
    """A model with planted answers.

    `says` maps (question, number of visible messages) to a letter or UNKNOWN; the default answer is `other`.
    The model records its requests and raises BudgetSpent after `lasts` answers.
    """

    fingerprint: str
    says: Mapping[tuple[str, int], str] = field(default_factory=dict)
    other: str = "A"
    lasts: int = 1_000_000
    asked: list[ChatRequest] = field(default_factory=list)
    scripted: bool = False
    sampling: Sampling = field(default_factory=Sampling)
    bound: TokenBound = field(default_factory=TokenBound)
    at_once: int = 0
    most_at_once: int = 0

    async def complete(self, request: ChatRequest) -> Completion:
        if len(self.asked) >= self.lasts:
            raise BudgetSpent("the budget is spent")
        self.asked.append(request)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        shown = len(request.fields["said"].split("\n")) if request.fields["said"] else 0
        choice = self.says.get((request.fields["question"], shown), self.other)
        if choice == NOT_JSON:
            return Completion(NOT_JSON)
        told = request.fields.get("told")
        if told is None:
            return Completion(Finding(why="so", choice=choice).model_dump_json())
        right = told.partition(". ")[0] == choice
        return Completion(Review(why="so", choice=choice, right=right).model_dump_json())


def asked(name: str, options: Sequence[str] = OPTIONS, **more: object) -> ContextQuestion:
    return replace(ContextQuestion(name, name, tuple(options)), **more)


def keys_of(context: Context, first: Planted, second: Planted, **settled: object) -> list[GoldLabel]:
    parameters = CoMemConfig.model_validate(settled)
    return asyncio.run(annotate(DOMAIN, [context], parameters, Annotators(first, second)))


def probes_from(context: Context, keys: Sequence[GoldLabel], **settled: object) -> list[Probe]:
    return list(make_probes("d", [context], keys, CoMemConfig.model_validate(settled)))


def dropped(keys: Sequence[GoldLabel]) -> dict[str, str]:
    return {key.question_id: key.dropped for key in keys if key.dropped is not None}


def test_only_questions_on_which_annotator_and_verifier_disagree_are_dropped(context: Made):
    made = context(8, [asked(name) for name in ("same", "early", "often", "moves")])
    moving = {("moves", 6): "B", ("moves", 8): "C"}
    first = Planted("1", {("early", 2): "B", ("often", 4): "C", ("often", 6): "C", **moving})
    keys = keys_of(made, first, Planted("2", moving))
    assert dropped(keys) == {
        "c/early": "annotator and verifier disagree at checkpoint 1",
        "c/often": "annotator and verifier disagree at checkpoint 2, 3",
    }
    assert all(
        len({key.dropped for key in keys if key.question_id == name}) == 1
        for name in {key.question_id for key in keys}
    )
    assert {probe.question_id for probe in probes_from(made, keys)} == {"c/same", "c/moves"}
    moved = [probe.gold for probe in probes_from(made, keys) if probe.question_id == "c/moves"]
    assert moved == ["1", "1", "1", "2", "3"]


def test_gold_label_has_annotator_model_visible_messages_and_rationale(context: Made):
    made = context(8, [asked("q", answer=2)])
    first, second = Planted("1", {("q", 8): "B"}), Planted("2", {("q", 8): "B"})
    keys = keys_of(made, first, second)
    assert [(key.checkpoint, key.made_by, key.visible, key.answer, key.agrees, key.model) for key in keys] == [
        (1, "annotator", 2, "1", False, "1"), (1, "verifier", 2, "1", True, "2"),
        (2, "annotator", 4, "1", False, "1"), (2, "verifier", 4, "1", True, "2"),
        (3, "annotator", 6, "1", False, "1"), (3, "verifier", 6, "1", True, "2"),
        (4, "annotator", 8, "2", True, "1"), (4, "verifier", 8, "2", True, "2"),
    ]  # fmt: skip
    assert {key.why for key in keys} == {"so"} and not dropped(keys)
    assert {request.prompt for request in first.asked} == {"comem/annotate_told"}
    assert {request.fields["told"] for request in first.asked} == {"B. b"}
    assert [request.fields["told"] for request in second.asked] == ["A. a", "A. a", "A. a", "B. b"]


def test_annotator_prompt_omits_published_answer_if_source_has_none(context: Made):
    first = Planted("1")
    keys = keys_of(context(8, [asked("q")]), first, Planted("2"))
    assert {request.prompt for request in first.asked} == {"comem/annotate"}
    assert {key.agrees for key in keys if key.made_by == "annotator"} == {None}
    assert {key.agrees for key in keys if key.made_by == "verifier"} == {True}


def test_failed_annotation_is_not_verified_and_gives_probe_with_reason(context: Made):
    made = context(8, [asked("broken"), asked("late"), asked("sound")])
    first = Planted("1", {("broken", 4): NOT_JSON})
    second = Planted("2", {("late", 8): NOT_JSON})
    keys = keys_of(made, first, second)
    failed = {(key.question_id, key.checkpoint, key.made_by) for key in keys if key.reason is not None}
    assert failed == {("c/broken", 2, "annotator"), ("c/late", 4, "verifier")}
    assert ("broken", 4) not in {
        (each.fields["question"], len(each.fields["said"].split("\n"))) for each in second.asked
    }
    assert not dropped(keys)
    reasons = {probe.question_id: probe.reason for probe in probes_from(made, keys)}
    assert reasons["c/sound"] is None
    assert reasons["c/broken"].startswith("comem/annotate: no usable answer in 3 attempts")
    assert "`memflow ledger forget --kind retried --prompt comem/annotate`" in reasons["c/broken"]
    assert reasons["c/late"].startswith("comem/verify: no usable answer in 3 attempts")


def test_annotator_answer_unknown_equals_the_i_do_not_know_option(context: Made):
    first, second = Planted("1", other=UNKNOWN_CHOICE), Planted("2", other="D")
    keys = keys_of(context(8, [asked("q")]), first, second)
    assert {key.answer for key in keys} == {"4"} and not dropped(keys)
    assert {request.fields["told"] for request in second.asked} == {"D. I don't know."}


letters = st.sampled_from(["A", "B", "C", "D", UNKNOWN_CHOICE])
planted = st.dictionaries(st.tuples(st.sampled_from(["p", "q", "r"]), st.sampled_from([2, 4, 6, 8])), letters)


@given(first=planted, second=planted)
def test_only_questions_with_agreement_at_every_checkpoint_are_kept(first, second):
    lines = tuple(ContextMessage(f"m{place}") for place in range(8))
    made = Context("c", "d", lines, tuple(asked(name) for name in "pqr"))
    keys = keys_of(made, Planted("1", first), Planted("2", second))

    def said(of: Mapping[tuple[str, int], str], name: str, shown: int) -> str:
        return of.get((name, shown), "A").replace(UNKNOWN_CHOICE, "D")

    alike = {
        f"c/{name}"
        for name in "pqr"
        if all(said(first, name, shown) == said(second, name, shown) for shown in (2, 4, 6, 8))
    }
    assert {key.question_id for key in keys if key.dropped is None} == alike
    assert {probe.question_id for probe in probes_from(made, keys)} == alike


def test_annotation_prompt_has_speakers_and_dates_and_no_quarantined_messages():
    lines = (
        ContextMessage("Hi.", speaker="Ross", sent_at="May"),
        ContextMessage("Hello.", speaker="Joey", sent_at="May"),
        ContextMessage("", reason="it is empty"),
        ContextMessage("Well?", role="assistant", sent_at="June"),
    )
    first = Planted("1")
    keys_of(Context("c", "d", lines, (asked("q"),)), first, Planted("2"), checkpoints=(1.0,))
    assert first.asked[0].fields["said"] == "[May]\nRoss: Hi.\nJoey: Hello.\n[June]\nassistant: Well?"


def test_annotation_rejects_same_model_as_annotator_and_verifier(context: Made):
    first = Planted("1")
    with pytest.raises(BadSettings, match="domain d: annotator and verifier are the same model"):
        keys_of(context(8, [asked("q")]), first, Planted("1"))
    assert not first.asked


def test_annotated_domain_without_annotator_models_is_rejected(bench: CoMem, records: list[Record]):
    with pytest.raises(BadSettings, match="no annotator models are set"):
        asyncio.run(bench.gold_labels(find_domain("comem_demo_annotated"), records, [], None))
