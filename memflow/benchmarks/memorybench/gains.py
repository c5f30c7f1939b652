"""The command `memflow show gains`: scores with minus without feedback on the same question (Tables 16 and 17)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np

from memflow.benchmarks.memorybench.config import parameters_of
from memflow.benchmarks.memorybench.protocols import WITH, WITHOUT
from memflow.benchmarks.views import Answer, Note, Reader, measured_names, record_table, scores_of
from memflow.metrics.paired import mean_differences
from memflow.records import Verdict
from memflow.scoring.judges import STANDARD

MEANING = (
    "Means over the cases that have a value both with and without feedback; the interval of their difference is over "
    "independent cases, or over corpora. `full` has the whole dialogue in its prompt, which is the paper's Table 16."
)


@dataclass(frozen=True, slots=True)
class Gain:
    """The mean of a metric over the cases of a data set, with and without feedback on the same question.

    `low` and `high` are the 95 % interval of the difference, None below three units or without variation.
    """

    domain: str
    dataset: str
    metric: str
    assistant: str
    with_feedback: float
    without_feedback: float
    difference: float
    low: float | None
    high: float | None
    n: int


def show_gains(reader: Reader, domain: Sequence[str] | None = None) -> Answer:
    """Return the gain of each assistant by data set and metric. Raises BadInput if no domain is measured."""
    stored = [name.partition("/") for name in reader.partitions("score.verdicts")]
    measured = reader.domains(dict.fromkeys(name for name, _, _ in stored))
    names = measured_names(
        [
            one.name
            for one in measured
            if one.benchmark == "memorybench" and parameters_of(one).protocol == "same"
        ],
        domain,
        "results with and without feedback",
        "Measure one with `memflow run --domain memorybench_demo_same --memory full`",
    )
    gains = [
        gain
        for name, _, assistant in stored
        if name in names
        for gain in gains_of(name, assistant, reader.rows("score.verdicts", f"{name}/{assistant}"))
    ]
    scores = scores_of(reader, {(gain.domain, gain.assistant) for gain in gains})
    origins = {
        (score.domain, score.assistant): {"model": score.model, "scripted": score.scripted}
        for score in scores
    }
    records = [{**asdict(gain), **origins.get((gain.domain, gain.assistant), {})} for gain in gains]
    table = record_table(records, [field.name for field in fields(Gain)])
    return Answer({"gains": records}, [table, Note(MEANING)], records, scores)


def gains_of(domain: str, assistant: str, verdicts: Iterable[Verdict]) -> Iterator[Gain]:
    """Yield the gains of an assistant in a domain of the protocol `same`, by data set and metric."""
    pairs: dict[tuple[str, str], dict[str, dict[str, Verdict]]] = {}
    for verdict in verdicts:
        if verdict.variant == STANDARD and verdict.value is not None:
            case, _, side = verdict.probe_id.rpartition("/")
            pairs.setdefault((verdict.dataset, verdict.metric), {}).setdefault(case, {})[side] = verdict
    for (dataset, metric), cases in pairs.items():
        both = [(sides[WITH], sides[WITHOUT]) for sides in cases.values() if {WITH, WITHOUT} <= {*sides}]
        if not both:
            continue
        values = np.array([[pair.value for pair in case] for case in both], dtype=np.float64)
        # The case itself is the episode of a question without a corpus.
        units, of = np.unique([without.episode_id for _, without in both], return_inverse=True)
        totals, counts = np.zeros((units.size, 1)), np.zeros((units.size, 1))
        np.add.at(totals, of, values[:, :1] - values[:, 1:])
        np.add.at(counts, of, 1)
        found = mean_differences(totals, counts)
        low, high = (float(end[0]) if np.isfinite(end[0]) else None for end in (found.low, found.high))
        with_feedback, without_feedback = values.mean(axis=0).tolist()
        means = (with_feedback, without_feedback, float(found.value[0]))
        yield Gain(domain, dataset, metric, assistant, *means, low, high, len(both))
