"""The row types of every table: the one source of the Parquet schema, the SQL and the column descriptions.

A table is `stage.name`; its asset key is `stage/name`; its SQL is `sql/tables/<stage>/<name>.sql`. What is read from
or written to a table is a list of these rows. How rows are made, and when, belongs elsewhere.

Every row that a model had a hand in carries `reason`: null when all is well, otherwise what went wrong, which, and
what to do. A row with a reason is quarantined: it counts in coverage and nowhere else.

Times are logical: `sequence` counts the messages that an episode's memory was given, from 0.
"""

import typing
from dataclasses import MISSING, dataclass, field, fields
from typing import Annotated, Any

Reason = Annotated[str | None, "Why this row is quarantined; null when all is well."]
Domain = Annotated[str, "The domain: a benchmark's testbed."]
Assistant = Annotated[
    str, "The assistant: a memory, and after an @ its chat model where that is not the default."
]
Episode = Annotated[str, "The episode: an independent stream of events that one assistant lives through."]
Checkpoint = Annotated[int, "The checkpoint, from 0: a point of the episode at which probes are asked."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One row per record of a published file."""

    dataset: Annotated[str, "The data set, as `memflow data` names it."]
    record_id: Annotated[str, "Unique within the data set."]
    position: Annotated[int, "Order in the published file, from 0."]
    source: Annotated[str, "The file's path inside the data folder, or inside the package."]
    sha256: Annotated[str, "SHA-256 of the file."]
    licence: Annotated[str, "The licence the file was published under."]
    origin: Annotated[str, "Where it was published."]
    content: Annotated[str, "The record as published, as JSON."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One row per user."""

    domain: Domain
    user_id: Annotated[str, "The user; also the id of the user's episode."]
    name: Annotated[str, "What the user is called."]
    profile: Annotated[str, "The user's fixed traits, in words, as simulator prompts show them."]
    start_date: Annotated[str, "The day period 0 ends, YYYY-MM-DD."]
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One row per user and state variable."""

    domain: Domain
    user_id: Annotated[str, "The user."]
    variable: Annotated[str, "The state variable's name."]
    choices: Annotated[list[str], "Its possible values."]
    questions: Annotated[list[str], "The user's questions whose answers depend on it."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One row per user, period and state variable that takes a value in it (period 0: every variable)."""

    domain: Domain
    user_id: Annotated[str, "The user."]
    period: Annotated[int, "The period, from 0; a period is a checkpoint."]
    period_end: Annotated[str, "The period's last day, YYYY-MM-DD."]
    variable: Annotated[str, "The state variable."]
    old: Annotated[str | None, "Its value before; null in period 0."]
    value: Annotated[str, "Its value from this period on."]
    event: Annotated[str | None, "The life event that brought the change; null in period 0."] = None
    summary: Annotated[str | None, "What the period is about, in a few sentences; null in period 0."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """One row per person, event, item or place of a user's life, the user among them (MemBench's relation graph)."""

    domain: Domain
    user_id: Annotated[str, "The user."]
    entity_id: Annotated[str, "Unique within the user."]
    kind: Annotated[str, "`self`, `relative`, `colleague`, `work_event`, `rest_event`, `item` or `place`."]
    name: Annotated[str, "What it is called."]
    relationship: Annotated[str, "What it is to the user: `self`, `aunt`, `boss`, `owns`, ..."]
    attributes: Annotated[str, "Gold: its attributes and their values, as a JSON object."]
    synthetic: Annotated[
        list[str], "Attributes that would be personal data (numbers, e-mail, documents): invented ones."
    ] = field(default_factory=list)
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One row per message that an episode's stream holds before it is played."""

    domain: Domain
    episode_id: Episode
    base: Annotated[str | None, "The episode on whose final memory this one is built; null for none."] = None
    checkpoint: Checkpoint
    event: Annotated[int, "Order of the event in the episode, from 0; its messages arrive together."]
    position: Annotated[int, "Order of the message in its event, from 0."]
    message_id: Annotated[str, "Unique within the domain."]
    kind: Annotated[str, "`exchange`: the assistant has to reply; `given`: written as it stands."]
    role: Annotated[str, "`user` or `assistant`."]
    speaker: Annotated[str | None, "Who says it, where a conversation has names."] = None
    text: Annotated[str, "What is said."]
    sent_at: Annotated[str | None, "The simulated time, as the data gives it."] = None
    follow_ups: Annotated[int, "How often the simulator speaks again after the assistant's reply."] = 0
    exposes: Annotated[str | None, "Gold, never shown to a memory: the state values it reveals, as JSON."] = (
        None
    )
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldLabel:
    """One row per question, checkpoint and hand that said what is right there (CoMem, section 3.2)."""

    domain: Domain
    question_id: Annotated[str, "The question; probes of it at its checkpoints have it too."]
    episode_id: Episode
    checkpoint: Checkpoint
    made_by: Annotated[
        str,
        "`annotator`, and `verifier`, who is told what the first said; or `rule`, `imported`, `published`.",
    ]
    visible: Annotated[int, "How many messages of the episode it may be answered from, the first ones."]
    answer: Annotated[
        str | None, "Gold: the right option's number from 1, or `unknown`: these messages do not tell."
    ] = None
    agrees: Annotated[
        bool | None,
        "Whether the answer that the hand was told is right, as it says; null where it was told none.",
    ] = None
    why: Annotated[str | None, "Gold: the grounds that the hand gave."] = None
    dropped: Annotated[
        str | None, "Why the question is not asked, though nothing failed; null where it is."
    ] = None
    completion: Annotated[str | None, "The ledger's digest of the completion."] = None
    model: Annotated[str | None, "Fingerprint of the model that said it; null where none did."] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One row per question asked at a checkpoint."""

    domain: Domain
    probe_id: Annotated[str, "Unique within the domain."]
    episode_id: Episode
    checkpoint: Checkpoint
    kind: Annotated[str, "`choice`, `open`, or `state` (AMemGym's diagnosis)."]
    split: Annotated[str, "`test`, or `train`: asked only where feedback is gathered."] = "test"
    dataset: Annotated[str, "The data set it comes from."]
    category: Annotated[str | None, "The data set's own category."] = None
    language: Annotated[str, "`en` or `zh`."] = "en"
    asked_at: Annotated[str | None, "The simulated time at which it is asked, as the data gives it."] = None
    metric: Annotated[str, "The metric that scores it."]
    question: Annotated[str, "The question."]
    options: Annotated[list[str], "The options of a multiple choice, in the order shown; else empty."]
    variables: Annotated[list[str], "The state variables its answer depends on; else empty."]
    gold: Annotated[str, "Gold: the right option's number from 1, the answer, or the state values as JSON."]
    revealed: Annotated[str, "Gold: what the oracle is told."]
    evidence: Annotated[list[str], "Gold: ids of the messages that the answer rests on, where known."]
    variants: Annotated[
        list[str],
        "Gold: for each option, the values of `variables` that it is for, as a JSON list; else empty.",
    ] = field(default_factory=list)
    parent: Annotated[str | None, "Of a state probe that belongs to a choice probe: that one."] = None
    question_id: Annotated[
        str | None, "What probes have in common that ask the same at other checkpoints; null where none does."
    ] = None
    opens: Annotated[
        bool, "It is asked before anything was told or learnt: the history of its question begins with it."
    ] = False
    after: Annotated[
        str | None,
        "The last message that has been said when it is asked, where that is before its checkpoint's.",
    ] = None
    true_of: Annotated[
        list[str], "Gold: for each option, the speaker of whom it is true; empty where nobody, or not known."
    ] = field(default_factory=list)
    said_tokens: Annotated[
        int | None, "Tokens of all that had been said in its episode when it is asked (estimated), if known."
    ] = None
    since_tokens: Annotated[
        int | None, "Those of its first evidence and of all that was said since (estimated), if known."
    ] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackRound:
    """One row per training case and round of the dialogue between backbone and simulated user."""

    domain: Domain
    dataset: Annotated[str, "The data set the case comes from."]
    case_id: Annotated[str, "The training probe that was asked."]
    episode_id: Episode
    round: Annotated[int, "The round, from 0: an answer, and the user's reaction to it."]
    user_text: Annotated[str, "What the user said: the question, then the critique of the answer before."]
    answer: Annotated[str, "What the backbone model answered."]
    score: Annotated[float | None, "The answer under the case's metric, where feedback rests on one."] = None
    satisfaction: Annotated[int | None, "Satisfaction from 1 to 10 (MemoryBench A.2)."] = None
    felt: Annotated[int | None, "Satisfaction with noise, in which the user pressed; null without noise."] = (
        None
    )
    liked: Annotated[bool, "The user pressed like."] = False
    disliked: Annotated[bool, "The user pressed dislike."] = False
    copied: Annotated[bool, "The user pressed copy."] = False
    critique: Annotated[str | None, "What the user said of the answer; null for the last answer."] = None
    ended: Annotated[bool, "The user ended the dialogue here."] = False
    completion: Annotated[str | None, "The ledger's digest of the completion that made the answer."] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedRound(FeedbackRound):
    """One row per answer of a dialogue that was led while an assistant was played, and the user's reaction to it."""

    assistant: Assistant
    checkpoint: Annotated[int, "The step in which the dialogue was led, and written; probes follow."]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptMessage:
    """One row per message of an episode as it was played."""

    domain: Domain
    assistant: Assistant
    episode_id: Episode
    checkpoint: Checkpoint
    event: Annotated[int, "Order of the event in the episode, from 0."]
    position: Annotated[int, "Order of the message in its event, from 0."]
    message_id: Annotated[str, "Unique within the domain and assistant."]
    role: Annotated[str, "`user` or `assistant`."]
    speaker: Annotated[str | None, "Who says it, where a conversation has names."] = None
    text: Annotated[str, "What is said."]
    sent_at: Annotated[str | None, "The simulated time."] = None
    sequence: Annotated[
        int, "Logical time: messages given to the memory before this one, and policies taken up."
    ]
    origin: Annotated[str, "`given`, `assistant` or `simulator`: who made it."]
    completion: Annotated[str | None, "The ledger's digest of the completion that made it."] = None
    reason: Reason = None
    models_s: Annotated[
        float | None,
        "Seconds of the models that were asked to write what arrived with this message, its last.",
    ] = None
    own_s: Annotated[float | None, "Seconds that the memory itself computed to write it."] = None
    model_calls: Annotated[int | None, "Completions of a chat model that writing it had."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row per item that a memory ever held."""

    domain: Domain
    assistant: Assistant
    episode_id: Episode
    entry_id: Annotated[str, "Unique within the episode; entries of a base episode keep theirs."]
    kind: Annotated[str, "Its tier: buffer, message, session, ..."]
    text: Annotated[str, "What it says."]
    sources: Annotated[list[str], "Ids of the messages it came from."]
    since: Annotated[int, "Tick at which it was written."]
    until: Annotated[int | None, "Tick at which it was retired; null while it lives."] = None
    role: Annotated[str | None, "Whose words it holds, where it is a verbatim message."] = None
    vector: Annotated[list[float] | None, "Its embedding, where the memory made one."] = None
    meta: Annotated[str, "What the memory keeps beside the text (importance, links, ...), as JSON."] = "{}"
    previous: Annotated[str | None, "The entry whose next version this one is."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One row per step of the evolution of a memory's policy in an episode; the first is what it begins with."""

    domain: Domain
    assistant: Assistant
    episode_id: Episode
    step: Annotated[int, "Order of the step, from 0."]
    cadence: Annotated[str, "`period` or `episode`: what comes before a step."]
    cycle: Annotated[int, "Episodes lived before it; 0 throughout where the cadence is `period`."]
    checkpoint: Annotated[int | None, "The last checkpoint whose questions the evolver was told of."] = None
    feedback: Annotated[str, "What it was told: `questions`, `complete`, or the named deviation."]
    kinds: Annotated[list[str], "The policy from then on: kinds of information to keep."]
    changes: Annotated[list[str], "What the evolver says it changed."]
    asked: Annotated[int, "Questions asked under the policy before it."] = 0
    answered: Annotated[int, "How many of them have an answer that could be read."] = 0
    correct: Annotated[int, "How many of them were answered rightly."] = 0
    since: Annotated[int, "Tick from which the policy is in force."]
    completion: Annotated[str | None, "The ledger's digest of the completion that made it."] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One row per probe asked of an assistant."""

    domain: Domain
    assistant: Assistant
    probe_id: Annotated[str, "The probe."]
    episode_id: Episode
    checkpoint: Checkpoint
    text: Annotated[str | None, "What the assistant answered, as it came."] = None
    parsed: Annotated[str | None, "The answer that was read in it; null where none could be."] = None
    recalled: Annotated[list[str], "Ids of the entries that were recalled."]
    recalled_sources: Annotated[list[str], "Ids of the messages those entries came from."]
    injected_tokens: Annotated[int, "Tokens that the memory put into the prompt (estimated)."] = 0
    dropped_tokens: Annotated[int, "Tokens that the memory left out to keep its budget (estimated)."] = 0
    prompt_tokens: Annotated[int | None, "Tokens of the whole prompt, as the server counted."] = None
    completion_tokens: Annotated[int | None, "Tokens of the answer, as the server counted."] = None
    latency_s: Annotated[float | None, "Seconds the completion took when it was first asked."] = None
    completion: Annotated[str | None, "The ledger's digest of the completion."] = None
    attempts: Annotated[int, "How often the model was asked until its answer parsed."] = 0
    prompt: Annotated[str | None, "The answer prompt as `name@digest`; null where nothing was asked."] = None
    model: Annotated[str | None, "Fingerprint of the chat model that was asked."] = None
    reason: Reason = None
    models_s: Annotated[float | None, "Seconds of the models that the memory asked to recall."] = None
    own_s: Annotated[float | None, "Seconds that the memory itself computed to recall."] = None
    model_calls: Annotated[int | None, "Completions of a chat model that recalling had."] = None
    ranked: Annotated[
        list[str], "Ids of the ten best entries that were found, also where the budget let fewer through."
    ] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """One row per reply, metric and variant."""

    domain: Domain
    assistant: Assistant
    probe_id: Annotated[str, "The probe."]
    episode_id: Episode
    checkpoint: Checkpoint
    dataset: Annotated[str, "The data set the probe comes from."]
    category: Annotated[str | None, "The data set's own category."] = None
    metric: Annotated[str, "The metric."]
    variant: Annotated[str, "`standard`, or the named deviation."] = "standard"
    value: Annotated[float | None, "The score; null where there is none, and never 0 for that."] = None
    completion: Annotated[str | None, "The ledger's digest of the judge's completion, where one judged."] = (
        None
    )
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureAttribution:
    """One row per scored probe of an assistant: where its evidence was lost, and what that cost."""

    domain: Domain
    assistant: Assistant
    probe_id: Annotated[str, "The probe."]
    episode_id: Episode
    checkpoint: Checkpoint
    category: Annotated[str | None, "The data set's own category."] = None
    evidence: Annotated[int, "Messages that the answer rests on, and that had been said by then."]
    stored: Annotated[int | None, "How many of them a live entry of the memory came from."] = None
    recalled: Annotated[int | None, "How many of them a recalled entry came from."] = None
    recalled_at_10: Annotated[
        int | None, "How many of them one of the ten best entries found came from; null where none is best."
    ] = None
    entries: Annotated[int | None, "Entries that were recalled."] = None
    relevant: Annotated[int | None, "Recalled entries that came from evidence."] = None
    loss: Annotated[
        float | None, "What the answer lacks: 1 minus its value under the probe's metric, of 0 to 1."
    ] = None
    write: Annotated[float | None, "Part of the loss that is a write failure."] = None
    read: Annotated[float | None, "Part of the loss that is a read failure."] = None
    utilization: Annotated[float | None, "Part of the loss that is a utilization failure."] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One row per fact that was news at a checkpoint, and whether the memory held it then."""

    domain: Domain
    assistant: Assistant
    claim_id: Annotated[str, "Unique within the domain."]
    episode_id: Episode
    checkpoint: Checkpoint
    text: Annotated[str, "Gold: what is claimed of the user."]
    value: Annotated[
        float | None, "1 where the judge found it in the memory, else 0; null without verdict."
    ] = None
    held_tokens: Annotated[int | None, "Tokens of what the memory held (estimated)."] = None
    completion: Annotated[str | None, "The ledger's digest of the completion."] = None
    model: Annotated[str | None, "Fingerprint of the judge; null where nobody was asked."] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One row per domain, assistant, metric, variant and slice."""

    domain: Domain
    assistant: Assistant
    memory: Annotated[str, "The memory system with its parameters."]
    model: Annotated[str, "The chat model that answered."]
    metric: Annotated[str, "The metric; score.metrics describes it."]
    variant: Annotated[str, "`standard`, or the named deviation."] = "standard"
    slice: Annotated[str, "`all`, `period 3`, `category 2`, `dataset locomo`, ..."] = "all"
    value: Annotated[float | None, "The score; null where it may not be shown."] = None
    low: Annotated[float | None, "Lower end of the 95 % interval, over what is independent."] = None
    high: Annotated[float | None, "Upper end of the 95 % interval."] = None
    deviation: Annotated[float | None, "Population deviation of the probes' values, where it is known."] = (
        None
    )
    n: Annotated[int, "Probes (or claims, questions, operations) that have a value."]
    n_episodes: Annotated[int, "Episodes of these probes."]
    coverage: Annotated[float, "Share of the probes asked that have a verdict."]
    simulator: Annotated[str, "Fingerprint of the simulator behind the row; null model: the data set."]
    scripted: Annotated[bool, "A scripted chat, not a language model, answered, simulated or judged."]
    fingerprint: Annotated[str | None, "Fingerprint of the chat model that answered."] = None
    prompts: Annotated[list[str], "The answer prompts behind it, as `name@digest`."] = field(
        default_factory=list
    )
    k: Annotated[int | None, "Entries that the memory recalls at most, where it has such a parameter."] = None
    budget: Annotated[
        int | None, "Tokens that the memory injects at most, where it has such a parameter."
    ] = None
    injected_tokens: Annotated[float | None, "Mean tokens that the memory put into a prompt (estimated)."] = (
        None
    )
    differing_settings: Annotated[
        str | None, "Settings that differ from those of the assistants it is compared with."
    ] = None
    reason: Reason = None


TABLES: dict[str, type] = {
    "raw.records": Record,
    "state.profiles": Profile,
    "state.variables": Variable,
    "state.changes": Change,
    "state.entities": Entity,
    "utterance.turns": Turn,
    "question.keys": GoldLabel,
    "question.probes": Probe,
    "feedback.sessions": FeedbackRound,
    "memory.transcripts": TranscriptMessage,
    "memory.indexes": Entry,
    "memory.policies": Policy,
    "memory.feedback": PlayedRound,
    "answer.replies": Reply,
    "score.verdicts": Verdict,
    "score.attributions": FailureAttribution,
    "score.claims": Claim,
    "score.leaderboard": Score,
}

KEYS: dict[str, tuple[str, ...]] = {
    "raw.records": ("dataset", "record_id"),
    "state.profiles": ("domain", "user_id"),
    "state.variables": ("domain", "user_id", "variable"),
    "state.changes": ("domain", "user_id", "period", "variable"),
    "state.entities": ("domain", "user_id", "entity_id"),
    "utterance.turns": ("domain", "message_id"),
    "question.keys": ("domain", "question_id", "checkpoint", "made_by"),
    "question.probes": ("domain", "probe_id"),
    "feedback.sessions": ("domain", "case_id", "round"),
    "memory.transcripts": ("domain", "assistant", "episode_id", "message_id"),
    "memory.indexes": ("domain", "assistant", "episode_id", "entry_id"),
    "memory.policies": ("domain", "assistant", "episode_id", "step"),
    "memory.feedback": ("domain", "assistant", "checkpoint", "case_id", "round"),
    "answer.replies": ("domain", "assistant", "probe_id"),
    "score.verdicts": ("domain", "assistant", "probe_id", "metric", "variant"),
    "score.attributions": ("domain", "assistant", "probe_id"),
    "score.claims": ("domain", "assistant", "claim_id"),
    "score.leaderboard": ("domain", "assistant", "metric", "variant", "slice"),
}
"""What identifies a row of each table."""

MEASURED = frozenset(
    {"latency_s", "models_s", "own_s", "model_calls", "completion", "prompt_tokens", "completion_tokens"}
)
"""Columns that measure a run; they are no part of a table's content digest."""

BY_EVIDENCE = "by_evidence"
"""The variant of failure rates attributed by evidence, beside AMemGym's own."""

RECALL_AT_10 = "recall_at_10"
"""Recall of evidence by the ten best entries, where `evidence_recall` is by all that a memory recalls."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its plain type, whether it may be null, and what it means."""

    name: str
    type: Any
    nullable: bool
    description: str


def columns(table: str) -> list[Column]:
    """The columns of `table`, in order. The type is str, int, float, bool, list[str] or list[float]."""
    row = TABLES[table]
    hints = typing.get_type_hints(row, include_extras=True)
    found = []
    for each in fields(row):
        plain, description = typing.get_args(hints[each.name])[:2]
        options = [option for option in typing.get_args(plain) if option is not type(None)]
        nullable = type(None) in typing.get_args(plain)
        found.append(Column(each.name, options[0] if nullable else plain, nullable, description))
    return found


def required(table: str) -> list[str]:
    """The columns that have no default."""
    return [f.name for f in fields(TABLES[table]) if f.default is MISSING and f.default_factory is MISSING]
