"""A forecast of `memflow run`: the partitions to run, and their requests, counted by a dry run.

memflow/run/dry_run.py counts requests; memflow/cli/plan.py computes prices and prints. Nothing is written, and no model
is called.
"""

from collections import Counter
from dataclasses import dataclass, field

from memflow.assets.fingerprints import Fingerprints
from memflow.benchmarks import registry
from memflow.benchmarks.datasets import Dataset
from memflow.errors import MemflowError
from memflow.operations.messages import terminal_console
from memflow.operations.selection import Selection
from memflow.records import is_failed_reply
from memflow.repeats import memory_name
from memflow.resources.ledger.sql_ledger import SqlLedger
from memflow.resources.settings.settings import Settings
from memflow.run.answer_lengths import FEWEST, RecordedUse
from memflow.run.dry_run import DryRun, ModelAssignment, ModelProfile, StepForecast
from memflow.run.handlers import handlers


@dataclass
class Forecast:
    """The forecast of a run: its steps, the partitions that are up to date, and the missing data sets."""

    steps: list[StepForecast] = field(default_factory=list)
    up_to_date: list[str] = field(default_factory=list)
    missing: dict[str, list[Dataset]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    """What samples leave out of the history of their units, by domain."""
    assistants: list[str] = field(default_factory=list)
    recorded: RecordedUse = field(default_factory=RecordedUse)
    failing: dict[str, str] = field(default_factory=dict)
    """What failed in the dry run of an assistant: every reply, or the code of its memory; by `DOMAIN/ASSISTANT`."""


def forecast(selection: Selection, latency: float | None, force: bool) -> Forecast:
    """Return the forecast of `memflow run`, from a dry run of every partition that is not up to date.

    Raises MissingData if none of a domain's data sets is available.
    """
    settings = selection.settings
    fingerprints = Fingerprints.of(settings)
    own, library = settings.own_memories(), fingerprints.library
    dry_run = DryRun(
        _models(settings),
        handlers(own),
        own=own,
        latency=latency,
        recorded=recorded_use(settings),
        load=fingerprints.lake.read,
    )
    retrieving = (name for _, name in selection.retrieval_only)
    assistants = list(dict.fromkeys((*selection.assistants, *retrieving)))
    result = Forecast(dry_run.forecasts, assistants=assistants, recorded=dry_run.recorded)
    with terminal_console(stderr=True).status("dry run") as status:
        for name in selection.domains:
            domain, dry_run.calibrates = settings.domain(name), settings.calibrates(name)
            benchmark = registry.benchmark(domain.benchmark)
            found, lacking = library.datasets_of(domain)
            if lacking:
                result.missing[name] = lacking
            generated = not force and fingerprints.up_to_date("domain", domain)
            status.update(f"dry run of {name}")
            if generated:
                result.up_to_date.append(name)
            else:
                records = [row for each in found for row in benchmark.records(each, library.paths(each))]
                if domain.limit and (left_out := benchmark.left_out(domain, records)):
                    result.left_out[name] = left_out
                dry_run.add("raw.records", name, records)
                dry_run.run("domain", domain)
            for assistant in selection.assistants:
                if generated and fingerprints.up_to_date("domain x assistant", name, assistant):
                    result.up_to_date.append(f"{name}/{assistant}")
                    continue
                status.update(f"dry run of {name} · {assistant}")
                try:
                    dry_run.run("domain x assistant", domain, assistant)
                except MemflowError:
                    raise
                except Exception as error:
                    if memory_name(assistant) not in own:  # an error of memflow's own code
                        raise
                    result.failing[f"{name}/{assistant}"] = (
                        f"the memory raised {type(error).__name__}: {error}"
                    )
                    continue
                replies = dry_run.rows("answer.replies", name, assistant)
                if replies and all(is_failed_reply(reply) for reply in replies):
                    result.failing[f"{name}/{assistant}"] = (
                        f"every planned read or answer fails ({replies[0].reason})"
                    )
    return result


def recorded_use(settings: Settings) -> RecordedUse:
    """Return what the ledger recorded of models: tokens of answers by prompt, retries by role, and seconds (means)."""
    if not settings.home.exists():
        return RecordedUse()
    with SqlLedger(settings.ledger_url) as ledger:
        by_prompt, by_role = (ledger.usage(("model", column)) for column in ("prompt", "role"))
    real = {name for name, model in settings.models.items() if model.kind != "scripted"}
    by_prompt, by_role = (
        [row for row in rows if row.by["model"] in real and row.requests + row.cache_hits >= FEWEST]
        for rows in (by_prompt, by_role)
    )
    seconds: dict[str, float] = {}
    answers = Counter[str]()
    tokens, retries = {}, {}
    for row in by_prompt:
        model, answered = row.by["model"], row.requests + row.cache_hits
        first_tokens = row.completion_tokens - row.retry_tokens
        tokens[model, row.by["prompt"]] = first_tokens / (answered - row.retries)
        seconds[model] = seconds.get(model, 0.0) + row.latency_s
        answers[model] += answered
    for row in by_role:
        share = row.retries / (row.requests + row.cache_hits - row.retries)
        retries[row.by["model"], row.by["role"]] = (share, row.retry_tokens / max(1, row.retries))
    return RecordedUse(tokens, {model: total / answers[model] for model, total in seconds.items()}, retries)


def _models(settings: Settings) -> ModelAssignment:
    profiles = {
        name: ModelProfile(
            model.sampling(),
            model.concurrency,
            model.fingerprint(),
            scripted=False,  # the plan of a scripted chat is one of the language model in its place
            headroom=model.profile.headroom,
        )
        for name, model in settings.models.items()
    }
    roles = dict(reversed(settings.roles.assigned()))  # the first judge is the model of the role
    return ModelAssignment(
        profiles, roles, settings.model_of, settings.token_limits.of, settings.window_of, settings.judges_of
    )
