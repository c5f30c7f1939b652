"""The command `memflow show simulators`: scores by simulator and chat model (MemoryBench, Table 22)."""

from collections.abc import Sequence

from memflow.benchmarks.views import Answer, Note, Reader, measured_names, record_table, stored_rows
from memflow.records import PublishedScore
from memflow.scoring.judges import STANDARD
from memflow.scoring.measures import is_compared

FIELDS = (
    "domain", "metric", "variant", "slice", "memory", "model", "value", "low", "high", "n", "scripted", "published_at",
)  # fmt: skip
COLUMNS = ("domain", "metric", "memory", "simulator", "model", "value", "low", "high", "n")
MEANING = (
    "The newest published score of each memory, model of the users and answering model. A later model does "
    "not replace the results of an earlier one here."
)


def show_simulators(reader: Reader, domain: Sequence[str] | None = None) -> Answer:
    """Return the newest primary scores by simulator and chat model. Raises BadInput if there are none."""
    history: list[PublishedScore] = stored_rows(reader, "score.history", reader.partitions("score.history"))
    domains = reader.domains(dict.fromkeys(row.domain for row in history))
    benchmarks = {one.name: one.benchmark for one in domains}
    newest: dict[tuple[str, ...], PublishedScore] = {}
    for row in history:
        if (
            row.simulator_model is not None
            and (row.slice, row.variant) == ("all", STANDARD)
            and is_compared(benchmarks.get(row.domain, ""), row.metric)
            and not row.removed
        ):
            newest[row.domain, row.metric, row.memory, row.simulator_model, row.model] = row
    names = measured_names(
        [*dict.fromkeys(row.domain for row in newest.values())],
        domain,
        "results with simulated users",
        "Measure one with `memflow run --demo`",
    )
    rows = [row for row in newest.values() if row.domain in names and row.value is not None]
    records = [{**{name: getattr(row, name) for name in FIELDS}, **_simulator(row)} for row in rows]
    return Answer({"scores": records}, [record_table(records, COLUMNS), Note(MEANING)], records, rows)


def _simulator(row: PublishedScore) -> dict[str, str]:
    """Return the name of the model that played the users, and its short fingerprint."""
    name, _, fingerprint = (row.simulator_model or "").rpartition(" (")
    return {"simulator": name, "simulator_fingerprint": fingerprint.removesuffix(")")}
