"""The command `memflow show statistics`: the sizes of domains (MemBench, Tables 2, 8 and 9; AMemGym, Table 4)."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass

from memflow.benchmarks import registry
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.views import Answer, Note, Reader, measured_names, record_table
from memflow.records import Probe, Turn
from memflow.tokens import quarters

WHOLE = "all"
MEANING = "Tokens are estimated: four characters, or one Chinese character, are a token."


@dataclass(frozen=True, slots=True)
class DomainStatistics:
    """The size of a domain or of the trajectories of a slice.

    `questions` counts one that is asked at several checkpoints once. `tokens_per_trajectory` is a mean.
    """

    domain: str
    slice: str
    trajectories: int
    periods: int
    sessions: int
    sessions_per_trajectory: float
    messages: int
    questions: int
    tokens_per_trajectory: float


def show_statistics(reader: Reader, domain: Sequence[str] | None = None, slices: bool = False) -> Answer:
    """Return the sizes of the domains with probes, by slice. Raises BadInput if there is none."""
    domains = reader.domains(reader.partitions("question.probes"))
    names = measured_names(
        [one.name for one in domains], domain, "questions", "Generate one with `memflow run --demo`"
    )
    rows = [
        row
        for one in domains
        if one.name in names
        for row in statistics_of(
            one, reader.rows("utterance.turns", one.name), reader.rows("question.probes", one.name)
        )
    ]
    records = [asdict(row) for row in rows]
    table = record_table([record for record in records if slices or record["slice"] == WHOLE])
    return Answer({"statistics": records}, [table, Note(MEANING)], records)


def statistics_of(domain: Domain, turns: Sequence[Turn], probes: Sequence[Probe]) -> list[DomainStatistics]:
    """Return the size of a domain, and of each slice of its test probes without those of states."""
    benchmark = registry.benchmark(domain.benchmark)
    asked = [
        probe
        for probe in probes
        if probe.reason is None and probe.split == "test" and probe.kind != "state" and not probe.opens
    ]
    by_episode: dict[str, list[Turn]] = {}
    for turn in turns:
        if turn.reason is None:
            by_episode.setdefault(turn.episode_id, []).append(turn)
    by_slice: dict[str, Collection[str]] = {WHOLE: {probe.probe_id for probe in asked}}
    if asked:
        by_slice |= benchmark.compared_slices(domain, asked)
    rows = []
    for name, members in by_slice.items():
        own = [probe for probe in asked if probe.probe_id in members]
        episodes = {probe.episode_id for probe in own} & {*by_episode}
        said = [turn for episode in sorted(episodes) for turn in by_episode[episode]]
        sessions = len({(turn.episode_id, benchmark.session_of(turn)) for turn in said})
        rows.append(
            DomainStatistics(
                domain.name,
                name,
                len(episodes),
                len({(probe.episode_id, probe.checkpoint) for probe in own}),
                sessions,
                sessions / max(1, len(episodes)),
                len(said),
                len({(probe.episode_id, probe.question_id or (probe.question, probe.gold)) for probe in own}),
                sum(quarters(turn.text) for turn in said) / 4 / max(1, len(episodes)),
            )
        )
    return rows
