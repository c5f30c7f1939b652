"""The optional methods of a benchmark, in groups. Each has a default, which a benchmark overrides where it differs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from memflow.benchmarks.datasets import Contents, Dataset
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.episodes import given_episodes
from memflow.benchmarks.step_values import Annotators, States
from memflow.chat.prompts import Prompt
from memflow.chat.requests import Chat
from memflow.judges.cases import JudgeCase
from memflow.records import FeedbackRound, GoldLabel, Probe, Record, Turn
from memflow.run.play import Episode, Replier
from memflow.scoring.groups import Group
from memflow.scoring.measures import Measure, VerdictValues, mean_measures


def probe_ids(slices: Mapping[str, Sequence[Probe]]) -> dict[str, frozenset[str]]:
    """Return the ids of the probes of each slice, by slice."""
    return {name: frozenset(probe.probe_id for probe in probes) for name, probes in slices.items()}


class SampleSize:
    """What a data set contains, and what a sample of a domain leaves out."""

    def contents(self, dataset: Dataset, records: Sequence[Record]) -> Contents:
        """Return the number of items in a data set's records by unit, and the quarantined items of valid records."""
        return Contents({"records": len(records)})

    def size(self, domain: Domain, records: Sequence[Record]) -> int | None:
        """Return how many units (`BenchmarkSpec.unit`) the domain has without its limit; None if this is unknown.

        This method is called only for a domain with a limit, to report how many units are missing.
        """
        return None

    def session_of(self, turn: Turn) -> Any:
        """Return what identifies the session of a message in its episode. The default is its event."""
        return turn.event

    def left_out(self, domain: Domain, records: Sequence[Record]) -> str | None:
        """Return a text on what a sample leaves out of the history of its units; None if it leaves out nothing.

        The text is part of the label of the sample's results, and starts with "without".
        """
        return None


class Simulation:
    """What the simulator generates: states, and the replies of users while an episode is played."""

    async def states(self, domain: Domain, records: Sequence[Record], simulator: Chat) -> States:
        """Return the users' structured states, or empty tables if the benchmark has none."""
        return States()

    def episodes(
        self,
        domain: Domain,
        states: States,
        turns: Sequence[Turn],
        feedback: Sequence[FeedbackRound],
        simulator: Chat,
        probes: Sequence[Probe] = (),
    ) -> list[Episode]:
        """Return the episodes to play. An episode comes after the episode that it is based on.

        `probes` are passed only if `plays_probes` returns true. The default is an episode per episode id of the turns.
        """
        return given_episodes(turns)

    def replier(self, domain: Domain, chat: Chat) -> Replier | None:
        """Return the function that generates on-policy replies, or None if the data set gives all replies."""
        return None

    def has_previous_state(self, domain: Domain) -> bool:
        """Return whether the gold can change in the domain. If so, probes have `previous`, the gold before a change."""
        return False

    def simulator_stages(self, domain: Domain) -> frozenset[str]:
        """Return the stages that call the simulator in this domain: state, utterance, question, feedback or memory."""
        return frozenset()

    def simulator_prompts(self) -> list[Prompt]:
        """Return the simulator's prompts. Their digests are part of the simulator's fingerprint."""
        return []


class Annotation:
    """Gold labels per checkpoint by two annotator models, for data sets that publish no gold."""

    async def gold_labels(
        self,
        domain: Domain,
        records: Sequence[Record],
        turns: Sequence[Turn],
        annotators: Annotators | None,
    ) -> list[GoldLabel]:
        """Return the gold labels per checkpoint; empty if probes contain the gold or if gold follows from states.

        `annotators` are passed if `annotation_prompts` returns any prompt.
        """
        return []

    def annotation_prompts(self, domain: Domain) -> list[Prompt]:
        """Return the annotators' prompts for the domain's gold labels; empty if no annotator is called."""
        return []


class Judging:
    """The judge and the metric backends of a benchmark: which metrics need them, and with which prompts."""

    judged_metrics: ClassVar[frozenset[str]] = frozenset()
    """The metrics whose values a judge decides."""
    claim_metric: ClassVar[str] = ""
    """The metric of its claims, if any."""

    def judge_prompts(self, domain: Domain, table: str) -> list[Prompt]:
        """Return the judge's prompts for the table `score.verdicts` or `score.claims`; empty if no judge is called."""
        return []

    def is_judged(self, probe: Probe) -> bool:
        """Return whether answers to a probe may need the judge."""
        return True

    def judge_cases(self) -> Sequence[JudgeCase]:
        """Return the cases of the judge's prompts for its calibration; empty if no judge is called."""
        return ()

    def metric_backends(self, domain: Domain) -> frozenset[str]:
        """Return the metric backends (memflow/metrics/backends.py) that the domain's metrics use, without the judge."""
        return frozenset()


class ScoreAggregation:
    """How verdicts become scores and comparisons: slices, measures, independent units and reference values."""

    name: ClassVar[str]
    independent_episodes: ClassVar[frozenset[str]] = frozenset()
    """The episodes whose questions are independent, so that intervals are over these and not over episodes."""
    aggregates_in_sql: ClassVar[bool] = False
    """Whether its scores are computed from groups of verdicts (`AssistantResults.groups`) instead of rows."""

    def population(self, groups: Sequence[Group]) -> Any:
        """Return the reference values that scale an assistant's scores, such as minimum and maximum over assistants.

        `groups` has the verdict groups of all assistants in the domain with the same chat model; it is empty if the
        benchmark does not aggregate in SQL.
        """
        return None

    def slices(self, domain: Domain, probes: Sequence[Probe]) -> Mapping[str, frozenset[str]]:
        """Return named sets of probe ids to score separately, in addition to `all`; by default none."""
        return {}

    def probe_slices(self, probes: Sequence[Probe]) -> Mapping[str, Sequence[Probe]]:
        """Return the probes of each slice in which assistants are compared, `all` first; by default only `all`."""
        return {"all": probes}

    def compared_slices(self, domain: Domain, probes: Sequence[Probe]) -> Mapping[str, frozenset[str]]:
        """Return the probe ids of each slice in which assistants are compared, `all` first.

        The slices have the names and probes of the slices of `scores`.
        """
        return {**probe_ids(self.probe_slices(probes)), **self.slices(domain, probes)}

    def measures(self, domain: Domain, values: VerdictValues) -> Iterable[Measure]:
        """Return what assistants are compared under. The default is every primary metric that verdicts have."""
        return mean_measures(self.name, values, self.compared_slices(domain, values.probes))
