"""The command `memflow show policies`, which compares on-policy and off-policy results (amemgym/policies.py)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from memflow.benchmarks.amemgym.policies import AssistantAnswers, PolicyComparison, Side, compare
from memflow.benchmarks.domains import Domain
from memflow.benchmarks.views import Answer, Heading, Note, Part, Reader, Table, scores_of
from memflow.errors import BadInput
from memflow.labels import meta_label
from memflow.metrics.intervals import Interval
from memflow.run.recording import Header, header_of
from memflow.scoring.published_health import FAULTY

COLUMNS = (
    *("assistant", "on-policy", "95 % interval", "off-policy", "95 % interval ", "difference"),
    *("95 % interval  ", "rank on", "rank off", "change", "n", "users"),
)


def show_policies(reader: Reader, on: str, off: str, assistant: Sequence[str] | None) -> Answer:
    """Return the comparison of two domains. Raises BadInput if the two domains cannot be compared."""
    on_domain, off_domain = reader.domain(on), reader.domain(off)
    on_measured, off_measured = _measured(reader, on_domain), _measured(reader, off_domain)
    on_side = _side(reader, on_domain, on_measured, assistant)
    off_side = _side(reader, off_domain, off_measured, assistant)
    rows = compare(on_side, off_side)
    run = _run(reader, off_domain)
    unshared = {
        on_domain.name: sorted(on_side.answered.keys() - off_side.answered.keys()),
        off_domain.name: sorted(off_side.answered.keys() - on_side.answered.keys()),
    }
    partitions = [(domain.name, row.assistant) for domain in (on_domain, off_domain) for row in rows]
    label = meta_label(_meta(reader, domain, name) for domain, name in partitions)
    data = {
        "on": on,
        "off": off,
        "run": None if run is None else run.model_dump(),
        "only": unshared,
        "rows": [row.as_dict() for row in rows],
    }
    parts = list(_parts(rows, run, unshared))
    return Answer(data, parts, scores=scores_of(reader, set(partitions)), label=label)


def _measured(reader: Reader, domain: Domain) -> list[str]:
    if domain.benchmark != "amemgym":
        raise BadInput(
            f"{domain.name} belongs to {domain.benchmark}, but on-policy and off-policy can only be "
            "compared in amemgym. Use amemgym domains."
        )
    partitions = [name.partition("/") for name in reader.partitions("score.verdicts")]
    measured = [assistant for name, _, assistant in partitions if name == domain.name]
    if not measured:
        raise BadInput(
            f"{domain.name} has no results yet. Measure it with `memflow run --domain {domain.name}`."
        )
    return [assistant for assistant in measured if assistant not in _faults(reader, domain)]


def _faults(reader: Reader, domain: Domain) -> dict[str, str]:
    """Return why the faulty assistants of a domain are not measured."""
    return {
        score.assistant: score.reason or ""
        for score in reader.scores()
        if score.domain == domain.name and score.health == FAULTY
    }


def _side(reader: Reader, domain: Domain, measured: Sequence[str], assistants: Sequence[str] | None) -> Side:
    """Return the domain with its probes and their replies. Raises BadInput if a reply is to an old probe."""
    probes = reader.facts("question.probes", domain.name)
    for name in assistants or ():
        if name not in measured:
            if fault := _faults(reader, domain).get(name):
                raise BadInput(f"{name} in {domain.name} is {fault}. Choose other assistants.")
            raise BadInput(
                f"{domain.name} has no results for assistant {name!r}, only for {', '.join(measured)}. "
                f"Measure it with `memflow run --domain {domain.name} --assistant {name}`."
            )
    selected = list(assistants or measured)
    for name in list(selected):
        _, separator, model = name.partition("@")
        oracle = f"oracle{separator}{model}"
        if oracle in measured:
            selected.append(oracle)
    results = {}
    for name in dict.fromkeys(selected):
        if probes is None or _meta(reader, domain.name, name).get("probes") != probes.digest:
            raise BadInput(
                f"the results of {name} in {domain.name} are stale: its probes were regenerated. Rerun "
                f"`memflow run --domain {domain.name} --assistant {name}`."
            )
        partition = f"{domain.name}/{name}"
        results[name] = AssistantAnswers(
            reader.rows("answer.replies", partition), reader.rows("score.verdicts", partition)
        )
    tests = [probe for probe in reader.rows("question.probes", domain.name) if probe.split == "test"]
    return Side(domain, tests, results)


def _meta(reader: Reader, domain: str, assistant: str) -> Mapping[str, str]:
    facts = reader.facts("score.verdicts", f"{domain}/{assistant}")
    return {} if facts is None else facts.meta


def _run(reader: Reader, domain: Domain) -> Header | None:
    """Return the header of the recorded run that an off-policy domain replays, or None without a recorded run."""
    for name in domain.datasets:
        if reader.facts("raw.records", name) is not None:
            header = header_of(reader.rows("raw.records", name))
            if header is not None:
                return header
    return None


def _parts(
    rows: Sequence[PolicyComparison], run: Header | None, unshared: Mapping[str, list[str]]
) -> Iterator[Part]:
    for metric in dict.fromkeys(row.metric for row in rows):
        yield Heading(metric)
        metric_rows = [row for row in rows if row.metric == metric]
        yield Table(COLUMNS, [_cells(row) for row in metric_rows])
        for reason in dict.fromkeys(row.reason for row in metric_rows if row.reason):
            names = ", ".join(row.assistant for row in metric_rows if row.reason == reason)
            yield Note(f"No score of {names}: {reason}.")
    if run is not None:
        yield Note(
            f"\nOff-policy dialogues are those of {run.assistant} in {run.domain} (model {run.model})."
        )
    yield Note("Differences are off-policy minus on-policy, with users drawn in pairs.")
    for domain, assistants in unshared.items():
        if assistants:
            yield Note(f"Measured in {domain} only: {', '.join(assistants)}.")


def _cells(row: PolicyComparison) -> list[Any]:
    change = "" if row.rise is None else "–" if not row.rise else f"{'▲▼'[row.rise < 0]}{abs(row.rise)}"
    values = [
        part for interval in (row.on, row.off, row.difference) for part in (interval.value, _bounds(interval))
    ]
    return [row.assistant, *values, row.rank_on, row.rank_off, change, row.n, row.n_users]


def _bounds(interval: Interval) -> str:
    if interval.low is None or interval.high is None:
        return f"none: {interval.reason}" if interval.reason else ""
    return f"{interval.low:.3f} – {interval.high:.3f}"
