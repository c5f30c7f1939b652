"""PersonaMem as contexts: invented files, and damaged files."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from personamem_files import PERSONA, TALK, read, row, shared, table

from memflow.benchmarks.comem.contexts import Context
from memflow.benchmarks.comem.load import load_contexts
from memflow.benchmarks.comem.sources.personamem import ALIASES, CATEGORIES
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.registry import find_domain
from memflow.errors import BadInput
from memflow.records import Record

DOMAIN = replace(find_domain("comem_personamem_32k"), parameters={"keys": "published"})
SHARED = shared({"c1": TALK})


def parse_parameters(**parameters: Any) -> Domain:
    return replace(DOMAIN, parameters={**DOMAIN.parameters, **parameters})


def only(records: list[Record], **parameters: Any) -> Context:
    (context,) = load_contexts(parse_parameters(**parameters), records)
    return context


def test_persona_message_starts_session_and_role_prefixes_are_removed(tmp_path: Path):
    context = only(read(tmp_path, table([row()]), SHARED))
    assert [(line.session, line.role, line.speaker, line.text) for line in context.messages] == [
        (0, "user", "Persona", PERSONA),
        (0, "user", None, "I like tea, it's calming."),
        (0, "assistant", None, "Tea is a fine choice."),
        (0, "user", None, "My sister sent me some."),
        (0, "user", None, "It was green."),
        (0, "assistant", None, "How kind of her."),
        (1, "user", "Persona", PERSONA),
        (1, "user", "Patient", "I sleep badly."),
        (1, "assistant", "Therapist", "Since when?"),
        (1, "user", None, "Since I took to coffee."),
    ]


def test_omission_of_persona_messages_shifts_question_positions(tmp_path: Path):
    ends = (1, 6, 7, 9, 10)
    rows = [row(f"q{end}", end_index_in_shared_context=end) for end in ends]
    records = read(tmp_path, table(rows), SHARED)
    context = only(records, persona="left_out")
    assert PERSONA not in [line.text for line in context.messages] and len(context.messages) == 8
    assert {end: question.end for end, question in zip(ends, context.questions, strict=True)} == {
        1: 0, 6: 5, 7: 5, 9: 7, 10: 8,
    }  # fmt: skip
    whole = only(records)
    for with_persona, without in zip(whole.questions, context.questions, strict=True):
        seen = [line for line in whole.messages[: with_persona.end] if line.speaker != "Persona"]
        assert list(context.messages[: without.end]) == seen


@pytest.mark.parametrize(
    ("published", "category"), [*ALIASES.items(), *((each, each) for each in CATEGORIES)]
)
def test_published_question_types_map_to_seven_categories(tmp_path: Path, published: str, category: str):
    (question,) = only(read(tmp_path, table([row(question_type=published)]), SHARED)).questions
    assert question.category == category and len(CATEGORIES) == 7


def test_personamem_questions_without_context_are_dropped(build: Callable[..., Any], tmp_path: Path):
    rows = [row("q1", shared_context_id="c0"), row("q2"), row("q3", shared_context_id="c0")]
    _, keys, probes = build(DOMAIN, read(tmp_path, table(rows), SHARED))
    assert {probe.question_id for probe in probes} == {"c1/q2"}
    dropped_by_source = [key for key in keys if key.dropped is not None]
    assert [(key.question_id, key.checkpoint) for key in dropped_by_source] == [
        (f"c0/{name}", checkpoint) for name in ("q1", "q3") for checkpoint in (1, 2, 3, 4)
    ]
    assert {key.dropped for key in dropped_by_source} == {
        "its messages are missing: 1 of the 2 contexts are present"
    }
    assert not [row.reason for row in (*keys, *probes) if row.reason]


def test_question_with_duplicated_gold_option_is_quarantined(build: Callable[..., Any], tmp_path: Path):
    twins = ("Tea.", "Coffee.", "Milk.", "Coffee.")
    records = read(tmp_path, table([row("twins", twins), row("sound", twins, correct_answer="(a)")]), SHARED)
    _, keys, probes = build(DOMAIN, records)
    assert {probe.question_id: probe.reason for probe in probes} == {
        "c1/twins": "its gold option occurs 2 times, as b and d",
        "c1/sound": None,
    }
    assert {key.question_id for key in keys} == {"c1/sound"}


@pytest.mark.parametrize("end", [-3, 0])
def test_question_before_first_message_is_quarantined(build: Callable[..., Any], tmp_path: Path, end: int):
    *_, probes = build(DOMAIN, read(tmp_path, table([row(end_index_in_shared_context=end)]), SHARED))
    assert {probe.reason for probe in probes} == {f"no message precedes it: its end is {end}"}


def test_only_the_personamem_question_after_the_end_of_its_context_is_quarantined(tmp_path: Path):
    rows = [row(), row(question_id="q2", end_index_in_shared_context=11)]
    (context,) = load_contexts(DOMAIN, read(tmp_path, table(rows), SHARED))
    assert [question.reason is None for question in context.questions] == [True, False]
    assert "its end is message 11 of a context with 10 messages" in str(context.questions[1].reason)


def test_personamem_files_without_common_context_are_rejected(tmp_path: Path):
    records = read(tmp_path, table([row(shared_context_id="c9")]), SHARED)
    with pytest.raises(BadInput, match="none of the 1 contexts of the questions is among the 1"):
        load_contexts(DOMAIN, records)
