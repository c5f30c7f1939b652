"""The `Benchmark` implementation of CoMem, which calls the other modules of this package."""

from collections.abc import Iterator, Sequence

from memflow.benchmarks.api import Benchmark, Question, States
from memflow.benchmarks.comem.annotation.labels import dropped_by_source, labels_from_source
from memflow.benchmarks.comem.annotation.rounds import annotate, annotation_prompts
from memflow.benchmarks.comem.config import parse_config
from memflow.benchmarks.comem.load import count_contents, load_contexts, read_records
from memflow.benchmarks.comem.probes import make_probes
from memflow.benchmarks.comem.question import build_question
from memflow.benchmarks.comem.scoring import make_scores, probe_slices
from memflow.benchmarks.comem.scripted import HANDLERS
from memflow.benchmarks.comem.turns import make_turns
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.step_values import Annotators
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.chat.scripted import Handler
from memflow.errors import BadSettings
from memflow.memories.memory import Recall
from memflow.records import GoldLabel, Probe, Record, Turn
from memflow.scoring.measures import Measure, VerdictValues, change_measures


class CoMem(Benchmark):
    """The implementation of CoMem's pipeline steps. CoMem's users have no structured states."""

    name = "comem"
    records = staticmethod(read_records)
    contents = staticmethod(count_contents)
    scores = staticmethod(make_scores)
    probe_slices = staticmethod(probe_slices)

    async def turns(
        self, domain: Domain, records: Sequence[Record], states: States, simulator: Chat
    ) -> list[Turn]:
        config = parse_config(domain)
        return [
            turn
            for context in load_contexts(domain, records)
            for turn in make_turns(domain.name, context, config)
        ]

    async def gold_labels(
        self,
        domain: Domain,
        records: Sequence[Record],
        turns: Sequence[Turn],
        annotators: Annotators | None,
    ) -> list[GoldLabel]:
        config, contexts = parse_config(domain), load_contexts(domain, records)
        if config.keys != "annotated":
            made = labels_from_source(config.keys, domain, contexts, config)
        elif annotators is None:
            raise BadSettings(
                f"domain {domain.name}: its gold labels must be annotated, but no annotator models are "
                "set. Set the roles annotator and verifier in [roles] of memflow.toml."
            )
        else:
            made = await annotate(domain, contexts, config, annotators)
        return [*made, *dropped_by_source(domain, contexts, config)]

    async def probes(
        self,
        domain: Domain,
        records: Sequence[Record],
        states: States,
        turns: Sequence[Turn],
        simulator: Chat,
        gold_labels: Sequence[GoldLabel] = (),
    ) -> list[Probe]:
        return list(
            make_probes(domain.name, load_contexts(domain, records), gold_labels, parse_config(domain))
        )

    def question(self, domain: Domain, probe: Probe, recall: Recall, gold_context: str | None) -> Question:
        return build_question(probe, recall, gold_context)

    def measures(self, domain: Domain, values: VerdictValues) -> Iterator[Measure]:
        yield from super().measures(domain, values)
        yield from change_measures(values, "accuracy", ("forgetting", "all_correct"))

    def size(self, domain: Domain, records: Sequence[Record]) -> int:
        return len(load_contexts(domain.limited(0), records))

    def has_previous_state(self, domain: Domain) -> bool:
        """Return whether labels can differ between checkpoints, which published labels cannot."""
        return parse_config(domain).keys != "published"

    def annotation_prompts(self, domain: Domain) -> list[Prompt]:
        return annotation_prompts() if parse_config(domain).keys == "annotated" else []

    def handlers(self) -> dict[str, Handler]:
        return dict(HANDLERS)
