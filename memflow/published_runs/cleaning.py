"""Cleaning of a run's answers from all its files: question ids, repeated rows, labels of no judge, cut contexts."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from memflow.published_runs.forms import Form
from memflow.published_runs.layouts import Layout
from memflow.published_runs.rows import JUDGE_OFF, PublishedAnswer


def with_question_ids(
    answers: Sequence[PublishedAnswer], form: Form, layout: Layout | None, faults: list[str]
) -> list[PublishedAnswer]:
    """Return the answers with question ids such as `CONVERSATION/q3`. Answers without such a question are faults."""
    if layout is None:
        return [
            replace(
                answer,
                question_id=f"{answer.conversation}/q{answer.question_id}"
                if form.pattern or form.number
                else answer.question_id,
                conversation=answer.conversation or answer.question_id,
            )
            for answer in answers
            if answer.place
        ]
    named: list[PublishedAnswer] = []
    for answer in answers:
        name = layout.conversation(answer.conversation, form.counts_from)
        if name is not None:
            named.append(replace(answer, conversation=name))
        elif answer.place:
            faults.append(f"{answer.place}: the conversation {answer.conversation!r} is unknown")
    if not form.order:
        return [answer for answer in named if answer.place]
    with_apart = {answer.conversation for answer in named if answer.category == layout.category_apart}
    places: Counter[str] = Counter()
    with_ids = []
    for answer in named:
        position: int | None = int(answer.question_id) if answer.question_id.isdigit() else -1
        if not (form.number or form.pattern):
            place, conversation = places[answer.conversation], answer.conversation
            places[conversation] += 1
            position = layout.position(conversation, place, conversation in with_apart)
        if not answer.place:
            continue
        if position is None or not layout.has(answer.conversation, position):
            faults.append(f"{answer.place}: {answer.conversation} has no such question")
        else:
            with_ids.append(replace(answer, question_id=f"{answer.conversation}/q{position}"))
    return sorted(with_ids, key=lambda answer: _order(answer, layout))


def _order(answer: PublishedAnswer, layout: Layout) -> tuple[int, int]:
    conversation, _, position = answer.question_id.rpartition("/q")
    return list(layout.scored).index(conversation), int(position)


def without_repeats(answers: Sequence[PublishedAnswer], faults: list[str]) -> list[PublishedAnswer]:
    """Return one answer per question: the first that has an answer, a label or a context, in the order of the file."""
    first: dict[str, PublishedAnswer] = {}
    empty: list[PublishedAnswer] = []
    repeated: list[PublishedAnswer] = []
    for answer in answers:
        key = answer.question_id or answer.place
        former = first.get(key)
        if former is None:
            first[key] = answer
        elif _is_empty(former) and not _is_empty(answer):
            first[key] = answer
            empty.append(former)
        else:
            (empty if _is_empty(answer) else repeated).append(answer)
    for kind, rows in (("have no answer, but another row has", empty), ("repeat a question", repeated)):
        if rows:
            places = "; ".join(row.place for row in rows[:3]) + ("; ..." if rows[3:] else "")
            faults.append(
                f"{len(rows):,} rows {kind}; the first row with an answer is used. Ignored: {places}"
            )
    nothing = [answer.place for answer in first.values() if _is_empty(answer)]
    if nothing:
        faults.append(f"{len(nothing):,} rows have no answer, label or context, such as {nothing[0]}")
    return [answer for answer in first.values() if not _is_empty(answer)]


def _is_empty(answer: PublishedAnswer) -> bool:
    values = (answer.answer, answer.label, answer.retrieved, *answer.metrics.values())
    return not any(value is not None for value in values) and not answer.rubric and not answer.has_context


def without_labels_of_no_judge(
    answers: Sequence[PublishedAnswer], form: Form, layout: Layout | None, faults: list[str]
) -> list[PublishedAnswer]:
    """Return the answers without labels if no label is positive, not even where the answer is exactly the gold."""
    scored = [answer for answer in answers if layout is None or answer.category != layout.category_apart]
    labeled = [answer for answer in scored if answer.label is not None]
    exact = sum(
        (answer.answer or "").casefold() == answer.gold.casefold() for answer in labeled if answer.gold
    )
    if not exact or any(answer.label for answer in labeled):
        return list(answers)
    faults.append(
        f"none of {len(labeled):,} labels is positive, but {exact:,} answers equal the gold: {JUDGE_OFF}"
    )
    return [
        answer if answer.label is None else replace(answer, label=None, label_reason=JUDGE_OFF)
        for answer in answers
    ]


def with_cuts(answers: Sequence[PublishedAnswer], notes: list[str]) -> list[PublishedAnswer]:
    """Return the answers; if most contexts are one text of exactly the largest length, mark these as cut."""
    lengths = Counter(len(answer.texts[0]) for answer in answers if len(answer.texts) == 1)
    length = max(lengths, default=0)
    if len(answers) < 10 or 2 * lengths[length] <= len(answers):
        return list(answers)
    notes.append(
        f"{lengths[length]:,} contexts are cut at {length:,} characters: what is missing may have been retrieved"
    )
    return [
        replace(answer, context_cut=len(answer.texts) == 1 and len(answer.texts[0]) == length)
        for answer in answers
    ]
