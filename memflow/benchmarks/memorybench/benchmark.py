"""The `Benchmark` implementation of MemoryBench, which calls the other modules of this package."""

from collections.abc import Iterator, Sequence
from typing import Any

from memflow.benchmarks.api import Benchmark, Question, States
from memflow.benchmarks.capabilities import SimulatedFeedback
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.memorybench import (
    comparison,
    episodes,
    feedback,
    load,
    on_policy,
    probes,
    protocols,
    question,
    scoring,
    scripted,
    selection,
    turns,
)
from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.scorers.registry import (
    JUDGED_METRICS,
    judge_prompts_of,
    required_backends_of,
)
from memflow.benchmarks.memorybench.scorers.scorer import PACKAGE as SCORERS_PACKAGE
from memflow.benchmarks.memorybench.scorers.scripted import HANDLERS as JUDGING
from memflow.benchmarks.memorybench.scorers.verdicts import make_verdicts
from memflow.benchmarks.memorybench.selection import INDEPENDENT_CASES
from memflow.benchmarks.memorybench.users import reactions
from memflow.benchmarks.memorybench.users.scripted import HANDLERS as USING
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.chat.scripted import Handler
from memflow.judges.cases import JudgeCase, load_cases
from memflow.memories.memory import Recall, Tools
from memflow.records import FeedbackRound, GoldLabel, Probe, Record, Turn
from memflow.run.play import Episode, Replier
from memflow.scoring.measures import Measure, VerdictValues


class MemoryBench(Benchmark, SimulatedFeedback):
    """The implementation of MemoryBench's pipeline steps. MemoryBench's users have no structured states."""

    name = "memorybench"
    records = staticmethod(load.read)
    contents = staticmethod(load.count_contents)
    verdicts = staticmethod(make_verdicts)
    scores = staticmethod(scoring.make_scores)
    population = staticmethod(scoring.population)
    simulator_prompts = staticmethod(reactions.prompts)
    metric_backends = staticmethod(required_backends_of)
    rounds = staticmethod(on_policy.rounds)
    aggregates_in_sql = True
    independent_episodes = INDEPENDENT_CASES
    judged_metrics = JUDGED_METRICS

    async def turns(
        self, domain: Domain, records: Sequence[Record], states: States, simulator: Chat
    ) -> list[Turn]:
        parameters_of(domain)  # Raises for a wrong one before anything is requested or played.
        return protocols.place_turns(domain, turns.turns(domain.name, selection.select(domain, records)))

    async def probes(
        self,
        domain: Domain,
        records: Sequence[Record],
        states: States,
        turns: Sequence[Turn],
        simulator: Chat,
        gold_labels: Sequence[GoldLabel] = (),
    ) -> list[Probe]:
        return protocols.schedule_probes(
            domain, probes.probes(domain.name, selection.select(domain, records))
        )

    async def feedback(
        self,
        domain: Domain,
        turns: Sequence[Turn],
        probes: Sequence[Probe],
        backbone: Chat,
        simulator: Chat,
        tools: Tools,
    ) -> list[FeedbackRound]:
        """Return the feedback rounds.

        With the `on_policy` protocol the list is empty, because each evaluated assistant answers the training cases
        itself.
        """
        if parameters_of(domain).protocol == "on_policy":
            return []
        return await feedback.feedback(domain, turns, probes, backbone, simulator)

    def episodes(
        self,
        domain: Domain,
        states: States,
        turns: Sequence[Turn],
        feedback: Sequence[FeedbackRound],
        simulator: Chat,
        probes: Sequence[Probe] = (),
    ) -> list[Episode]:
        return episodes.episodes(domain, turns, feedback, probes, simulator)

    def plays_probes(self, domain: Domain) -> bool:
        return parameters_of(domain).protocol in ("on_policy", "same")

    def replier(self, domain: Domain, chat: Chat) -> Replier | None:
        """Return the function that generates replies under the `on_policy` protocol, otherwise None."""
        return on_policy.replier(chat) if parameters_of(domain).protocol == "on_policy" else None

    def question(self, domain: Domain, probe: Probe, recall: Recall, gold_context: str | None) -> Question:
        """Return the prompt of a probe.

        The memory query is the question alone, or, if the parameter `query` is "prompt", the whole prompt without
        notes.
        """
        prompt, fields = question.build_prompt(probe, recall.notes if gold_context is None else gold_context)
        return Question(prompt, fields, question.search_query(probe, parameters_of(domain).query == "prompt"))

    def parse(self, probe: Probe, value: Any) -> str:
        return question.answer_text(value)

    def probe_slices(self, probes: Sequence[Probe]) -> dict[str, list[Probe]]:
        return scoring.slices_of(probes)

    def measures(self, domain: Domain, values: VerdictValues) -> Iterator[Measure]:
        return comparison.make_measures(self.name, values, self.compared_slices(domain, values.probes))

    def handlers(self) -> dict[str, Handler]:
        return {**scripted.handlers(), **USING, **JUDGING}

    def size(self, domain: Domain, records: Sequence[Record]) -> int:
        return sum(len(each.test) for each in selection.select(domain.limited(0), records))

    def left_out(self, domain: Domain, records: Sequence[Record]) -> str | None:
        cases = sum(each.left_out for each in selection.select(domain, records))
        dialogues = "training dialogue" if cases == 1 else "training dialogues"
        return f"without {cases:,} {dialogues} that no selected question needs" if cases else None

    def simulator_stages(self, domain: Domain) -> frozenset[str]:
        """Return the stage in which simulated users react to answers: `memory` if on-policy, otherwise `feedback`."""
        return frozenset({"memory" if parameters_of(domain).protocol == "on_policy" else "feedback"})

    def judge_prompts(self, domain: Domain, table: str) -> list[Prompt]:
        return judge_prompts_of(domain) if table == "score.verdicts" else []

    def judge_cases(self) -> Sequence[JudgeCase]:
        return load_cases(SCORERS_PACKAGE)
