"""The published results of an assistant in a domain, as the formats of other tools need them: scores and samples."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from memflow.chat.scripted import LABEL
from memflow.errors import BadInput, BadSettings
from memflow.labels import JUDGED, score_label, score_qualifiers
from memflow.operations.stored_names import stored_scores
from memflow.records import Probe, Reply, Score, Verdict
from memflow.repeats import memory_name
from memflow.scoring.judges import STANDARD

if TYPE_CHECKING:
    from memflow.resources.lake.lake import Lake
    from memflow.resources.settings.settings import Settings

UNKNOWN = "unknown"
NOT_PORTABLE = re.compile(r'[<>:"\\|?*/\x00-\x1f\x7f]')
"""Characters that some file systems refuse in the name of a file."""
RESERVED = re.compile(r"(data|con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)


class Sample(NamedTuple):
    """A probe that was asked, its reply and its verdicts."""

    probe: Probe
    reply: Reply
    verdicts: Sequence[Verdict]

    @property
    def metadata(self) -> dict[str, Any]:
        """Its `probe_id`, `question_type`, `dataset`, `episode`, `checkpoint`, and `recalled`: ids of entries."""
        kind = self.probe.category or self.probe.kind
        asked = {"probe_id": self.probe.probe_id, "question_type": kind, "dataset": self.probe.dataset}
        place = {"episode": self.probe.episode_id, "checkpoint": self.probe.checkpoint}
        return {**asked, **place, "recalled": self.reply.recalled}

    @property
    def tokens(self) -> dict[str, int]:
        """Tokens by `input_tokens` (prompt), `output_tokens` (answer) and `total_tokens`; empty if not counted."""
        sent, received = self.reply.prompt_tokens, self.reply.completion_tokens
        if sent is None or received is None:
            return {}
        return {"input_tokens": sent, "output_tokens": received, "total_tokens": sent + received}


@dataclass(frozen=True)
class ExportedResults:
    """The results of an assistant in a domain, without addresses and paths of the machine in memflow's own texts.

    `details` describes the memory and what is left out, `judges` has the judges by (metric, variant), `protocol` the
    values of adjustable points. `judge_prompts` are `NAME@DIGEST` with commas, or `unknown`. `published` is the time of
    the last publication that changed a score of the assistant, so that equal results have equal exports.
    """

    domain: str
    memory: str
    model: str
    details: Mapping[str, str]
    scores: Sequence[Score]
    judges: Mapping[tuple[str, str], Sequence[str]]
    judge_prompts: str
    protocol: Mapping[str, str]
    published: datetime
    origins: Mapping[str, str]
    """The origin and the license of each data set, by its name."""
    samples: Sequence[Sample]

    @property
    def measured(self) -> list[Score]:
        """The scores that have a value."""
        return [score for score in self.scores if score.value is not None]


def exported_results(
    settings: "Settings",
    lake: "Lake",
    domain: Sequence[str] | None = None,
    assistant: Sequence[str] | None = None,
    model_id: str | None = None,
) -> list[ExportedResults]:
    """Return the results of all or some domains and assistants; `model_id` is the public name of their chat model.

    Raises BadInput without results, and where `model_id` would name several models.
    """
    from memflow.scoring.publications import current_scores

    by_pair: dict[tuple[str, str], list[Score]] = {}
    for score in stored_scores(settings, lake, domain, assistant):
        by_pair.setdefault((score.domain, score.assistant), []).append(score)
    if not by_pair:
        raise BadInput(
            "no score matches the selection. `memflow show leaderboard` lists domains and assistants."
        )
    models = sorted({scores[0].model for scores in by_pair.values()})
    if model_id is not None and len(models) > 1:
        raise BadInput(
            f"--model-id names one model, but these answered: {', '.join(models)}. Select the "
            "results of one model with --assistant."
        )
    history = current_scores(lake.read_all("score.history", lake.partitions("score.history"))).values()
    return [_results(settings, lake, scores, [*history], model_id) for scores in by_pair.values()]


def _results(
    settings: "Settings", lake: "Lake", scores: Sequence[Score], history: Sequence[Any], model_id: str | None
) -> ExportedResults:
    from memflow.benchmarks import registry
    from memflow.resources.report.redaction import Redaction

    redacted = Redaction.of_environment([model.key_variable for model in settings.models.values()]).text
    domain, assistant = scores[0].domain, scores[0].assistant
    of_domain, partition = settings.domain(domain), f"{domain}/{assistant}"
    scores = [_redacted(score, redacted) for score in scores]
    published = [row for row in history if (row.domain, row.assistant) == (domain, assistant)]
    times = [row.published_at for row in published]
    facts = [lake.facts("score.verdicts", partition), lake.facts("score.leaderboard", "all")]
    protocol = json.loads(facts[0].meta.get("protocol", "{}") if facts[0] else "{}")
    judging = registry.benchmark(of_domain.benchmark).judge_prompts
    prompts = [*judging(of_domain, "score.verdicts"), *judging(of_domain, "score.claims")]
    memory = redacted(memory_name(assistant)) or UNKNOWN
    served, deployment = _served(settings, scores[0], protocol)
    parameters = {f"memory_{name}": value for name, value in _parameters(settings, assistant).items()}
    labels = dict.fromkeys(label for score in scores for label in score_qualifiers(score, scores))
    return ExportedResults(
        domain=domain,
        memory=memory,
        model=portable_id(model_id or served),
        details={
            "memory_system": memory,
            **{name: redacted(text(value)) or "" for name, value in parameters.items()},
            "benchmark": of_domain.benchmark,
            "served_name": redacted(served) or UNKNOWN,
            "deployment_type": deployment,
            "scripted": {LABEL: "yes", JUDGED: "judge"}.get(score_label(scores) or "", "no"),
            "labels": "; ".join(labels),
            "left_out_scores": str(sum(score.value is None for score in scores)),
            "left_out": ", ".join(score_name(score) for score in scores if score.value is None),
        },
        scores=scores,
        judges={(row.metric, row.variant): row.judge.split(", ") for row in published if row.judge},
        judge_prompts=", ".join(f"{prompt.name}@{prompt.digest}" for prompt in prompts) or UNKNOWN,
        protocol={name: redacted(str(value)) or "" for name, value in protocol.items()},
        published=datetime.fromisoformat(max(times or [row.written for row in facts if row])),
        origins={
            name: ", ".join(next(iter(lake.columns("raw.records", name, ("origin", "licence")))))
            for name in of_domain.datasets
            if lake.facts("raw.records", name) is not None
        },
        samples=_samples(lake, domain, partition),
    )


def _redacted(score: Score, redacted: Callable[[str | None], str | None]) -> Score:
    from memflow.resources.report.scores import REDACTED

    names = [name for name in (*REDACTED, "assistant", "memory", "memory_models") if hasattr(score, name)]
    columns: Any = {name: redacted(getattr(score, name)) for name in names}
    return replace(score, **columns)


def _parameters(settings: "Settings", assistant: str) -> Mapping[str, Any]:
    try:
        return settings.memory_of(assistant).values
    except BadSettings:  # a memory of other settings
        return {}


def _samples(lake: "Lake", domain: str, partition: str) -> list[Sample]:
    """Return the probes that were asked, in their order."""
    verdicts: dict[str, list[Verdict]] = {}
    for verdict in lake.read("score.verdicts", partition):
        verdicts.setdefault(verdict.probe_id, []).append(verdict)
    replies = {reply.probe_id: reply for reply in lake.read("answer.replies", partition)}
    return [
        Sample(probe, replies[probe.probe_id], verdicts[probe.probe_id])
        for probe in lake.read("question.probes", domain)
        if probe.probe_id in replies.keys() & verdicts.keys()
    ]


def _served(settings: "Settings", score: Score, protocol: Mapping[str, Any]) -> tuple[str, str]:
    """Return the chat model's name at its server, with its developer if that is known, and who runs the server.

    A model that --url and --model named is not in the settings; the protocol of its run has its name.
    """
    from memflow.resources.endpoints.hosted_models import find_hosted

    model = settings.models.get(score.model)
    if model is None:
        return score.model if "@" in score.assistant else protocol.get(
            "assistant_model", score.model
        ), UNKNOWN
    if model.kind == "scripted":
        return f"memflow/{model.model}", "self_deployed"
    hosted = find_hosted(model.model)
    if hosted is None or hosted.url.rstrip("/") != model.url.rstrip("/"):
        return model.model, "self_deployed" if model.kind == "vllm" else UNKNOWN
    developer = "" if "/" in model.model else f"{hosted.preset.partition('_')[0]}/"
    return f"{developer}{model.model}", "externally_managed"


def portable_id(name: str) -> str:
    """Return a model's name as `DEVELOPER/MODEL`, whose parts are names of files on every system.

    The path of a folder with weights is reduced to its last part. An unknown developer is `unknown`.
    """
    parts = [portable(part) for part in name.split("/") if part]
    parts = parts[-1:] if name.startswith(("/", ".", "~")) else parts
    return "/".join(parts if len(parts) > 1 else [UNKNOWN, *(parts or [UNKNOWN])])


def portable(name: str) -> str:
    """Return a name with `_` for each character that a file's name cannot have on some system."""
    plain = NOT_PORTABLE.sub("_", name).strip(" .") or UNKNOWN
    return f"{plain}_" if RESERVED.fullmatch(plain) else plain


def score_name(row: Score | Verdict) -> str:
    """Return the name of a score or a verdict, such as `accuracy` or `write_failure (by_evidence)`."""
    return row.metric if row.variant == STANDARD else f"{row.metric} ({row.variant})"


def details_of(score: Score, others: Sequence[Score]) -> dict[str, str]:
    """Return the non-empty columns of a score as texts by name, and its `labels` (score_qualifiers with `others`)."""
    columns = {**asdict(score), "labels": score_qualifiers(score, others)}
    return {name: text(value) for name, value in columns.items() if value not in (None, "", [])}


def text(value: Any) -> str:
    """Return a value as text: `yes` or `no`, the items of a list, or its usual form."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
