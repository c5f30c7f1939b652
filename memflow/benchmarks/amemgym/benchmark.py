"""The `Benchmark` implementation of AMemGym, which calls the other modules of this package."""

from collections.abc import Iterator, Sequence

from memflow.benchmarks.amemgym.answers import ChoiceAnswer, Values
from memflow.benchmarks.amemgym.comparison import memory_score_measures, probe_slices
from memflow.benchmarks.amemgym.config import is_generated, parse_config
from memflow.benchmarks.amemgym.episodes import make_episodes, make_replier
from memflow.benchmarks.amemgym.evolution_feedback import make_evolution_feedback
from memflow.benchmarks.amemgym.factual import judge_cases, judge_claims, make_claims
from memflow.benchmarks.amemgym.load import count_contents, read_records
from memflow.benchmarks.amemgym.metrics import FACTUAL_RECALL
from memflow.benchmarks.amemgym.off_policy import user_records
from memflow.benchmarks.amemgym.probes import make_probes
from memflow.benchmarks.amemgym.question import build_question, parse_answer
from memflow.benchmarks.amemgym.scoring import make_scores
from memflow.benchmarks.amemgym.scripted import HANDLERS
from memflow.benchmarks.amemgym.states import make_states
from memflow.benchmarks.amemgym.turns import make_turns
from memflow.benchmarks.amemgym.verdicts import make_verdicts
from memflow.benchmarks.amemgym.wording import JUDGE, prompt, simulator_prompts
from memflow.benchmarks.api import Benchmark, Question, States
from memflow.benchmarks.capabilities import EvolutionFeedback, MemoryClaims
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.step_values import MemorySnapshots
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.chat.scripted import Handler
from memflow.memories.memory import Recall
from memflow.metrics.backends import MetricBackends
from memflow.records import Claim, FeedbackRound, Probe, Record, Reply, Turn, Verdict
from memflow.run.play import Episode
from memflow.scoring.measures import Measure, VerdictValues


class AMemGym(Benchmark, EvolutionFeedback, MemoryClaims):
    """The implementation of AMemGym's pipeline steps."""

    name = "amemgym"
    records = staticmethod(read_records)
    contents = staticmethod(count_contents)
    states = staticmethod(make_states)
    turns = staticmethod(make_turns)
    probes = staticmethod(make_probes)
    replier = staticmethod(make_replier)
    scores = staticmethod(make_scores)
    claims = staticmethod(make_claims)
    judge_cases = staticmethod(judge_cases)
    simulator_prompts = staticmethod(simulator_prompts)
    probe_slices = staticmethod(probe_slices)
    judged_metrics = frozenset({FACTUAL_RECALL})
    claim_metric = FACTUAL_RECALL

    def episodes(
        self,
        domain: Domain,
        states: States,
        turns: Sequence[Turn],
        feedback: Sequence[FeedbackRound],
        simulator: Chat,
        probes: Sequence[Probe] = (),
    ) -> list[Episode]:
        return make_episodes(domain, states, turns, simulator)

    def question(self, domain: Domain, probe: Probe, recall: Recall, gold_context: str | None) -> Question:
        return build_question(probe, recall, gold_context)

    def parse(self, probe: Probe, value: ChoiceAnswer | Values) -> str:
        return parse_answer(value)

    async def verdicts(
        self, domain: Domain, probes: Sequence[Probe], replies: Sequence[Reply], backends: MetricBackends
    ) -> list[Verdict]:
        return make_verdicts(domain, probes, replies)

    def measures(self, domain: Domain, values: VerdictValues) -> Iterator[Measure]:
        yield from super().measures(domain, values)
        yield from memory_score_measures(values)

    def build_evolution_feedback(
        self,
        domain: Domain,
        feedback: str,
        probes: Sequence[Probe],
        replies: Sequence[Reply],
        turns: Sequence[Turn],
    ) -> str:
        return make_evolution_feedback(feedback, probes, replies, turns)

    async def judge_claims(
        self, domain: Domain, claims: Sequence[Claim], snapshots: MemorySnapshots, judge: Chat
    ) -> list[Claim]:
        return await judge_claims(claims, snapshots, judge)

    def handlers(self) -> dict[str, Handler]:
        return dict(HANDLERS)

    def size(self, domain: Domain, records: Sequence[Record]) -> int:
        return parse_config(domain).users if is_generated(domain) else len(user_records(domain, records))

    def has_previous_state(self, domain: Domain) -> bool:
        return True

    def simulator_stages(self, domain: Domain) -> frozenset[str]:
        """Return the stages that call the simulator.

        Generated users need the simulator for states, messages and questions. On-policy dialogues need it for follow-up
        messages.
        """
        stages = {"state", "utterance", "question"} if is_generated(domain) else set()
        return frozenset(stages | ({"memory"} if parse_config(domain).policy == "on" else set()))

    def judge_prompts(self, domain: Domain, table: str) -> list[Prompt]:
        return [prompt(stem) for stem in JUDGE] if table == "score.claims" else []
