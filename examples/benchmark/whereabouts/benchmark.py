"""The steps of the example benchmark, which return table rows. All other steps use the defaults of `Benchmark`."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel

from memflow.benchmarks.api import AssistantResults, Benchmark, Question, States
from memflow.benchmarks.datasets import Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.multiple_choice import LETTERS, Choice, choice_of, lettered, unlettered
from memflow.benchmarks.published_file import Said, records_of, valid_records
from memflow.benchmarks.raw_records import parse_records, validated
from memflow.benchmarks.scripted_reader import best_options
from memflow.benchmarks.verdicts import choice_verdicts
from memflow.chat import prompts
from memflow.chat.requests import Chat, ChatRequest
from memflow.chat.scripted import Handler
from memflow.memories.memory import Recall
from memflow.metrics.backends import MetricBackends
from memflow.records import GoldLabel, Probe, Record, Reply, Score, Turn, Verdict
from memflow.scoring.catalog import ACCURACY
from memflow.scoring.estimate import MetricContext, choice_values, probe_score, valid_probes


def choose(request: ChatRequest) -> Choice:
    """Return the scripted chat's answer: the option that the messages of the request support best."""
    text = "\n".join(message.content for message in request.messages[:-1])
    options = unlettered(request.fields["options"])
    return Choice(choice=LETTERS[best_options(text, request.fields["question"], options)[0]])


class Story(BaseModel):
    """A line of the file: messages, and a question about them. `evidence` is the position of a message, from 0."""

    id: Said
    messages: list[Said]
    question: Said
    options: list[Said]
    gold: int
    evidence: int


def stories(domain: Domain, records: Sequence[Record]) -> list[Story]:
    """Return the valid stories in the records of a domain, at most as many as the domain's limit."""
    found = [Story.model_validate_json(record.content) for record in valid_records(records)]
    return found[: domain.limit or None]


METRICS = (ACCURACY.primary_in("whereabouts"),)


class Whereabouts(Benchmark):
    """A benchmark of multiple-choice questions about stories, asked at the end of each story."""

    name = "whereabouts"

    def records(self, dataset: Dataset, files: Mapping[str, Path]) -> list[Record]:
        return records_of(
            dataset, files, lambda source: lambda file: parse_records(file.lines(), validated(Story, "id"))
        )

    def size(self, domain: Domain, records: Sequence[Record]) -> int:
        return len(records)

    async def turns(
        self, domain: Domain, records: Sequence[Record], states: States, simulator: Chat
    ) -> list[Turn]:
        return [
            Turn(
                domain=domain.name,
                episode_id=story.id,
                checkpoint=0,
                event=number,
                position=0,
                message_id=f"{story.id}/{number}",
                kind="given",
                role="user",
                text=text,
            )
            for story in stories(domain, records)
            for number, text in enumerate(story.messages)
        ]

    async def probes(
        self,
        domain: Domain,
        records: Sequence[Record],
        states: States,
        turns: Sequence[Turn],
        simulator: Chat,
        gold_labels: Sequence[GoldLabel] = (),
    ) -> list[Probe]:
        return [
            Probe(
                domain=domain.name,
                probe_id=f"{story.id}/q",
                episode_id=story.id,
                checkpoint=0,
                kind="choice",
                dataset=domain.datasets[0],
                category="moved" if story.evidence else "unmoved",
                metric="accuracy",
                question=story.question,
                options=story.options,
                variables=[],
                gold=str(story.gold),
                revealed=story.messages[story.evidence],
                evidence=[f"{story.id}/{story.evidence}"],
            )
            for story in stories(domain, records)
        ]

    def question(self, domain: Domain, probe: Probe, recall: Recall, gold_context: str | None) -> Question:
        prompt = prompts.load_in_language("whereabouts", "choice", choice_of(len(probe.options)))
        notes = recall.notes if gold_context is None else gold_context
        fields = {"notes": notes, "question": probe.question, "options": lettered(probe.options)}
        return Question(prompt, fields, query=probe.question)

    async def verdicts(
        self, domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], backends: MetricBackends
    ) -> list[Verdict]:
        return choice_verdicts(domain, probes, replies)

    def scores(self, domain: Domain, results: AssistantResults) -> list[Score]:
        context, probes = MetricContext.from_results(domain, results), valid_probes(results)
        return [
            probe_score(context, metric, probes, values) for metric, values in choice_values(results).items()
        ]

    def handlers(self) -> dict[str, Handler]:
        return {"whereabouts/choice": choose}
