"""Keys made elsewhere, taken over from a file (key_file.py): every line has to be for a question as the domain has it.

What the file says of a question is the last word; the grounds of whoever made its keys are kept as told there.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from memflow.benchmarks.comem.annotation.label_file import At, Ground, Keyed, digest_of
from memflow.benchmarks.comem.annotation.labels import kept
from memflow.benchmarks.comem.config import Parameters
from memflow.benchmarks.comem.contexts import Asked, Context
from memflow.benchmarks.comem.load import contexts_of, key_records
from memflow.benchmarks.comem.sources.keys import HEADER
from memflow.benchmarks.comem.truncation import visible
from memflow.benchmarks.domains import Domain
from memflow.errors import BadInput
from memflow.records import GoldLabel, Record


def imported(domain: Domain, records: Sequence[Record], parameters: Parameters) -> list[GoldLabel]:
    """The keys of every sound question at each checkpoint but 0. A question that the file does not have is dropped.

    Raises BadInput naming file, line and fault where a line is for no question of the domain, for another question or
    options, or for another truncation; where a question is there twice; and where there is no such file.
    """
    contexts = contexts_of(domain.limited(0), records)
    known = {context.question_id(asked): (context, asked) for context in contexts for asked in context.asked}
    lines = _lines(domain, records, known, parameters)
    return [
        key
        for context in contexts[: domain.limit or None]
        for asked in context.sound
        for key in _keys(domain, context, asked, lines.get(context.question_id(asked)), parameters)
    ]


def _lines(
    domain: Domain,
    records: Sequence[Record],
    known: Mapping[str, tuple[Context, Asked]],
    parameters: Parameters,
) -> dict[str, Keyed]:
    """The sound lines of the domain's files, by question."""
    held = key_records(records)
    if not held:
        named = ", ".join(domain.datasets)
        raise BadInput(
            f"domain {domain.name} imports its keys, and none of its data sets ({named}) has a file of them: name "
            "such a file *keys*.jsonl, and its data set among the domain's"
        )
    found: dict[str, Keyed] = {}
    first = 0
    for record in held:
        if record.record_id == HEADER:
            first = record.position
            continue
        line = Keyed.model_validate_json(record.content)
        if line.question_id not in known:
            fault: str | None = "there is no such question in the domain"
        elif line.question_id in found:
            fault = "another of the domain's files has keys for it too"
        else:
            fault = _fault(line, *known[line.question_id], parameters)
        if fault is not None:
            where = f"{record.dataset}: {record.source}, line {1 + record.position - first}"
            raise BadInput(f"domain {domain.name}: {where}: question {line.question_id}: {fault}")
        found[line.question_id] = line
    return found


def _fault(line: Keyed, context: Context, asked: Asked, parameters: Parameters) -> str | None:
    """What in a line does not fit its question, if anything."""
    if line.digest != digest_of(asked):
        return "its keys were made for another wording of the question or other options"
    told = {at.share: at.visible for at in line.keys}
    shares = list(parameters.checkpoints)
    if [at.share for at in line.keys] != shares:
        return f"its keys are for {list(told)} of the context, where the domain's checkpoints are at {shares}"
    for at, index in zip(line.keys, visible(context, asked, parameters)[1:], strict=True):
        if at.visible != index:
            return (
                f"its key at {at.share} was made from {at.visible} messages, where {index} are visible in the domain: "
                "it is for another truncation (parameter ends) or another version of the dialogues"
            )
        if at.answer != "unknown" and at.answer > len(asked.options):
            return (
                f"its key at {at.share} is option {at.answer}, of which there are only {len(asked.options)}"
            )
    return None


def _keys(
    domain: Domain, context: Context, asked: Asked, line: Keyed | None, parameters: Parameters
) -> Iterator[GoldLabel]:
    seen = visible(context, asked, parameters)[1:]
    empty = [
        GoldLabel(
            domain=domain.name,
            question_id=context.question_id(asked),
            episode_id=context.context_id,
            checkpoint=number,
            made_by="imported",
            visible=index,
            dropped="no file of keys has it" if line is None else None,
        )
        for number, index in enumerate(seen, start=1)
    ]
    if line is None:
        yield from empty
        return
    filled = [
        replace(key, answer=str(at.answer), why=_why(at)) for key, at in zip(empty, line.keys, strict=True)
    ]
    yield from kept(asked, filled, parameters)


def _why(at: At) -> str | None:
    """The grounds of every hand, with its name."""
    return "\n".join(_said(ground) for ground in at.grounds) or None


def _said(ground: Ground) -> str:
    who = ", ".join(name for name in (ground.hand, ground.model) if name is not None)
    return ": ".join(part for part in (who, ground.why) if part)
