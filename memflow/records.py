"""The row types of every table: the source of the Parquet schemas, the SQL and the column descriptions.

The table `stage.name` has the asset key `stage/name` and the SQL file `sql/tables/<stage>/<name>.sql`.

`reason` is null for a valid row; otherwise it states the error. A row with a reason is quarantined: it counts in
coverage only.

Times are logical: `sequence` counts the messages that an episode's memory was given, from 0.
"""

import typing
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from typing import Annotated, Any

Reason = Annotated[str | None, "The error because of which the row is quarantined; null for a valid row."]
Domain = Annotated[str, "The domain: one setting of a benchmark."]
Assistant = Annotated[
    str, "The assistant: `memory`, or `memory@model` with a chat model other than the default."
]
Episode = Annotated[str, "The episode: an independent stream of events."]
Cut = Annotated[bool, "The token limit ended the text."]
Checkpoint = Annotated[int, "The checkpoint, from 0: the point of the episode at which probes are asked."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One row per record of a published file."""

    dataset: Annotated[str, "The data set, as `memflow data` names it."]
    record_id: Annotated[str, "Unique within the data set."]
    position: Annotated[int, "Order in the published file, from 0."]
    source: Annotated[str, "The file's path inside the data folder, or inside the package."]
    sha256: Annotated[str, "SHA-256 of the file."]
    licence: Annotated[str, "The licence the file was published under."]
    origin: Annotated[str, "The source where it was published."]
    content: Annotated[str, "The record as published, as JSON; the text of a record that is not JSON."]
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One row per user."""

    domain: Domain
    user_id: Annotated[str, "The user; also the id of the user's episode."]
    name: Annotated[str, "The user's name."]
    profile: Annotated[str, "The user's fixed traits as text, for simulator prompts."]
    start_date: Annotated[str, "The last day of period 0, YYYY-MM-DD."]
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One row per user and state variable."""

    domain: Domain
    user_id: Annotated[str, "The user."]
    variable: Annotated[str, "The state variable's name."]
    choices: Annotated[list[str], "Its possible values."]
    questions: Annotated[list[str], "Questions of the user whose answers depend on it."]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One row per user, period and state variable that gets a value in the period; period 0 sets every variable."""

    domain: Domain
    user_id: Annotated[str, "The user."]
    period: Annotated[int, "The period, from 0; a period is a checkpoint."]
    period_end: Annotated[str, "The period's last day, YYYY-MM-DD."]
    variable: Annotated[str, "The state variable."]
    old: Annotated[str | None, "Its value before; null in period 0."]
    value: Annotated[str, "Its value from this period on."]
    event: Annotated[str | None, "The life event that caused the change; null in period 0."] = None
    summary: Annotated[str | None, "A summary of the period; null in period 0."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """One row per person, event, item or place in a user's life, and one for the user (MemBench's relation graph)."""

    domain: Domain
    user_id: Annotated[str, "The user."]
    entity_id: Annotated[str, "Unique within the user."]
    kind: Annotated[str, "`self`, `relative`, `colleague`, `work_event`, `rest_event`, `item` or `place`."]
    name: Annotated[str, "Its name."]
    relationship: Annotated[str, "Its relation to the user: `self`, `aunt`, `boss`, `owns`, ..."]
    attributes: Annotated[str, "Gold: its attributes and their values, as a JSON object."]
    synthetic: Annotated[
        list[str], "Names of attributes with invented personal data (numbers, e-mail, documents)."
    ] = field(default_factory=list)
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One row per message of an episode before it is played."""

    domain: Domain
    episode_id: Episode
    base: Annotated[str | None, "The episode whose final memory this one starts from; null for none."] = None
    checkpoint: Checkpoint
    event: Annotated[int, "Order of the event in the episode, from 0; its messages arrive together."]
    position: Annotated[int, "Order of the message in its event, from 0."]
    message_id: Annotated[str, "Unique within the domain."]
    kind: Annotated[str, "`exchange`: the assistant generates the reply; `given`: written unchanged."]
    role: Annotated[str, "`user` or `assistant`."]
    speaker: Annotated[str | None, "The speaker's name, in conversations with names."] = None
    text: Annotated[str, "The text of the message."]
    sent_at: Annotated[str | None, "The simulated time, as in the data."] = None
    follow_ups: Annotated[int, "Number of follow-up messages of the simulator after the reply."] = 0
    exposes: Annotated[
        str | None, "Gold, never given to a memory: the state values that it reveals, as JSON."
    ] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldLabel:
    """One row per question, checkpoint and source of the label (CoMem, section 3.2)."""

    domain: Domain
    question_id: Annotated[str, "The question; its probes have the same id."]
    episode_id: Episode
    checkpoint: Checkpoint
    made_by: Annotated[
        str,
        "The source: `annotator`, `verifier` (sees the annotator's label), `rule`, `imported` or `published`.",
    ]
    visible: Annotated[int, "Number of messages, from the first, that the label is based on."]
    answer: Annotated[
        str | None,
        "Gold: the correct option's number from 1, or `unknown` where these messages do not contain it.",
    ] = None
    agrees: Annotated[
        bool | None,
        "Whether the verifier confirms the annotator's label; null for other sources.",
    ] = None
    why: Annotated[str | None, "Gold: the reasoning of the source."] = None
    dropped: Annotated[
        str | None, "Why the question is left out although nothing failed; null where it is asked."
    ] = None
    completion: Annotated[str | None, "The ledger's digest of the completion."] = None
    model: Annotated[str | None, "Fingerprint of the labeling model; null for rules and files."] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One row per question asked at a checkpoint."""

    domain: Domain
    probe_id: Annotated[str, "Unique within the domain."]
    episode_id: Episode
    checkpoint: Checkpoint
    kind: Annotated[str, "`choice`, `open`, or `state` (AMemGym's diagnosis)."]
    split: Annotated[str, "`test`, or `train`: asked only to collect feedback."] = "test"
    dataset: Annotated[str, "The data set it comes from."]
    category: Annotated[str | None, "The data set's own category."] = None
    language: Annotated[str, "`en` or `zh`."] = "en"
    asked_at: Annotated[str | None, "The simulated time of the question, as in the data."] = None
    metric: Annotated[str, "The metric that scores it."]
    question: Annotated[str, "The question."]
    options: Annotated[list[str], "The options of a multiple-choice question in order; otherwise empty."]
    variables: Annotated[list[str], "The state variables that the answer depends on; otherwise empty."]
    gold: Annotated[str, "Gold: the correct option's number from 1, the answer, or the state values as JSON."]
    revealed: Annotated[str, "Gold: the context for the memory `oracle`."]
    previous: Annotated[
        str | None,
        "Gold before its last change, or `revealed` if it never changed: the context for the memory `previous`. Null "
        "where the benchmark has no previous state.",
    ] = None
    evidence: Annotated[list[str], "Gold: ids of the messages that contain the answer, where known."]
    variants: Annotated[
        list[str],
        "Gold: for each option, its values of `variables` as a JSON list; otherwise empty.",
    ] = field(default_factory=list)
    parent: Annotated[str | None, "For a state probe of a choice probe: the choice probe."] = None
    question_id: Annotated[
        str | None,
        "Shared by probes that ask the same question at different checkpoints; null without such probes.",
    ] = None
    opens: Annotated[
        bool, "Asked without any context, at the start of the question's history (no-context accuracy)."
    ] = False
    after: Annotated[
        str | None,
        "The last message before the question, where it is asked before its checkpoint ends.",
    ] = None
    true_of: Annotated[
        list[str], "Gold: for each option, the speaker for whom it is true; empty where unknown or nobody."
    ] = field(default_factory=list)
    said_tokens: Annotated[int | None, "Estimated tokens of all messages before the question, if known."] = (
        None
    )
    since_tokens: Annotated[
        int | None, "Estimated tokens from its first evidence to the question, if known."
    ] = None
    slices: Annotated[
        list[str], "Further slices of its scores, such as `topic travel`, beside that of its category."
    ] = field(default_factory=list)
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackRound:
    """One row per training case and round of the dialogue between backbone and simulated user."""

    domain: Domain
    dataset: Annotated[str, "The data set the case comes from."]
    case_id: Annotated[str, "The training probe."]
    episode_id: Episode
    round: Annotated[int, "The round, from 0: an answer and the user's reaction."]
    user_text: Annotated[str, "The user's message: the question, or the critique of the previous answer."]
    answer: Annotated[str, "The backbone model's answer."]
    score: Annotated[float | None, "The answer's value under the case's metric, where feedback uses it."] = (
        None
    )
    satisfaction: Annotated[int | None, "Satisfaction from 1 to 10 (MemoryBench A.2)."] = None
    felt: Annotated[
        int | None, "Satisfaction with noise, which determines the actions; null without noise."
    ] = None
    liked: Annotated[bool, "The user pressed like."] = False
    disliked: Annotated[bool, "The user pressed dislike."] = False
    copied: Annotated[bool, "The user pressed copy."] = False
    critique: Annotated[str | None, "The user's critique of the answer; null for the last answer."] = None
    ended: Annotated[bool, "The user ended the dialogue here."] = False
    completion: Annotated[str | None, "The ledger's digest of the answer's completion."] = None
    cut: Cut = False
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayedRound(FeedbackRound):
    """One row per answer of a feedback dialogue with an assistant, and the user's reaction."""

    assistant: Assistant
    checkpoint: Annotated[int, "The step of the dialogue; probes follow it."]


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptMessage:
    """One row per message of a played episode."""

    domain: Domain
    assistant: Assistant
    episode_id: Episode
    checkpoint: Checkpoint
    event: Annotated[int, "Order of the event in the episode, from 0."]
    position: Annotated[int, "Order of the message in its event, from 0."]
    message_id: Annotated[str, "Unique within the domain and assistant."]
    role: Annotated[str, "`user` or `assistant`."]
    speaker: Annotated[str | None, "The speaker's name, in conversations with names."] = None
    text: Annotated[str, "The text of the message."]
    sent_at: Annotated[str | None, "The simulated time."] = None
    sequence: Annotated[
        int, "Logical time: number of earlier messages and policy changes given to the memory."
    ]
    origin: Annotated[str, "The source: `given`, `assistant` or `simulator`."]
    completion: Annotated[str | None, "The ledger's digest of the completion that generated it."] = None
    cut: Cut = False
    reason: Reason = None
    models_s: Annotated[
        float | None,
        "Seconds of model requests to write the messages up to this one, the last of its batch.",
    ] = None
    own_s: Annotated[float | None, "Seconds of the memory's own computation to write it."] = None
    model_calls: Annotated[int | None, "Number of completions to write it."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row per entry that a memory has ever stored."""

    domain: Domain
    assistant: Assistant
    episode_id: Episode
    entry_id: Annotated[str, "Unique within the episode; entries of a base episode keep their ids."]
    kind: Annotated[str, "The tier: buffer, message, session, ..."]
    text: Annotated[str, "The text of the entry."]
    sources: Annotated[list[str], "Ids of its source messages."]
    since: Annotated[int, "Sequence number at which it was written."]
    until: Annotated[int | None, "Sequence number at which it was retired; null for a current entry."] = None
    role: Annotated[str | None, "The role of a verbatim message; null otherwise."] = None
    vector: Annotated[list[float] | None, "Its embedding, where the memory computed one."] = None
    meta: Annotated[str, "Further data of the entry (importance, links, ...), as JSON."] = "{}"
    previous: Annotated[str | None, "The previous version of this entry."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One row per step of the evolution of a memory's policy in an episode; the first is the initial policy."""

    domain: Domain
    assistant: Assistant
    episode_id: Episode
    step: Annotated[int, "Order of the step, from 0."]
    cadence: Annotated[str, "`period` or `episode`: the interval between steps."]
    cycle: Annotated[int, "Number of earlier episodes; 0 where the cadence is `period`."]
    checkpoint: Annotated[int | None, "The last checkpoint whose questions are in the feedback."] = None
    feedback: Annotated[str, "The kind of feedback: `questions`, `complete`, or the named deviation."]
    kinds: Annotated[list[str], "The new policy: kinds of information to keep."]
    changes: Annotated[list[str], "The changes as described by the model."]
    asked: Annotated[int, "Questions asked under the previous policy."] = 0
    answered: Annotated[int, "Number of them with a parsed answer."] = 0
    correct: Annotated[int, "Number of them answered correctly."] = 0
    since: Annotated[int, "Sequence number from which the policy applies."]
    completion: Annotated[str | None, "The ledger's digest of the completion that generated it."] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One row per probe asked of an assistant."""

    domain: Domain
    assistant: Assistant
    probe_id: Annotated[str, "The probe."]
    episode_id: Episode
    checkpoint: Checkpoint
    text: Annotated[str | None, "The assistant's raw answer."] = None
    parsed: Annotated[str | None, "The parsed answer; null where parsing failed."] = None
    recalled: Annotated[list[str], "Ids of the recalled entries."]
    recalled_sources: Annotated[list[str], "Ids of the source messages of these entries."]
    injected_tokens: Annotated[int, "Estimated tokens that the memory added to the prompt."] = 0
    dropped_tokens: Annotated[int, "Estimated tokens that the memory dropped to stay within its budget."] = 0
    dropped_messages: Annotated[
        int, "Messages of the whole history that the memory dropped, since they did not fit."
    ] = 0
    prompt_tokens: Annotated[int | None, "Tokens of the whole prompt, as counted by the server."] = None
    completion_tokens: Annotated[int | None, "Tokens of the answer, as counted by the server."] = None
    latency_s: Annotated[float | None, "Seconds of the original request."] = None
    completion: Annotated[str | None, "The ledger's digest of the completion."] = None
    cut: Cut = False
    attempts: Annotated[int, "Number of requests until an answer parsed."] = 0
    prompt: Annotated[str | None, "The answer prompt as `name@digest`; null without a request."] = None
    model: Annotated[str | None, "Fingerprint of the chat model."] = None
    reason: Reason = None
    models_s: Annotated[float | None, "Seconds of the memory's model requests to recall."] = None
    own_s: Annotated[float | None, "Seconds of the memory's own computation to recall."] = None
    model_calls: Annotated[int | None, "Number of completions to recall."] = None
    ranked: Annotated[list[str], "Ids of the ten best entries found, including those beyond the budget."] = (
        field(default_factory=list)
    )
    recall_failures: Annotated[
        list[str], "Reasons of the items left out of the memory's answers to recall."
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
    variant: Annotated[str, "`standard`, the named deviation, or one of several judges: `judge_NAME`."] = (
        "standard"
    )
    value: Annotated[float | None, "The value; null where there is none."] = None
    completion: Annotated[
        str | None, "The ledger's digest of the judge's completion, where there is one."
    ] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureAttribution:
    """One row per scored probe of an assistant, with the share of its loss that each failure caused."""

    domain: Domain
    assistant: Assistant
    probe_id: Annotated[str, "The probe."]
    episode_id: Episode
    checkpoint: Checkpoint
    category: Annotated[str | None, "The data set's own category."] = None
    evidence: Annotated[int, "Messages that the answer rests on, and that had been said by then."]
    stored: Annotated[int | None, "How many of them an entry that was not retired came from."] = None
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
    """One row per fact that was new at a checkpoint and judge, and whether the memory contained it then."""

    domain: Domain
    assistant: Assistant
    claim_id: Annotated[str, "Unique within the domain."]
    episode_id: Episode
    checkpoint: Checkpoint
    variant: Annotated[str, "`standard`, or one of several judges: `judge_NAME`."] = "standard"
    text: Annotated[str, "Gold: the statement about the user."]
    value: Annotated[
        float | None, "1 where the judge found it in the memory, otherwise 0; the mean over several judges."
    ] = None
    held_tokens: Annotated[int | None, "Estimated tokens of the memory's content."] = None
    completion: Annotated[str | None, "The ledger's digest of the completion."] = None
    model: Annotated[str | None, "Fingerprint of the judge; null without a request."] = None
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
    judge_low: Annotated[float | None, "The lowest judge's score, where there are several judges."] = None
    judge_high: Annotated[float | None, "The highest judge's score, where there are several judges."] = None
    self_judges: Annotated[
        list[str], "The judges of this score whose model also answered; empty where none did."
    ] = field(default_factory=list)
    deviation: Annotated[float | None, "Population deviation of the probes' values, where it is known."] = (
        None
    )
    n: Annotated[int, "Probes (or claims, questions, operations) that have a value."]
    planned: Annotated[int | None, "How many need a value; quarantined probes need none."] = None
    n_episodes: Annotated[int, "Episodes of these probes."]
    coverage: Annotated[float, "Share of the probes asked that have a verdict."]
    simulator: Annotated[str, "Fingerprint of the simulator behind the row; null model: the data set."]
    scripted: Annotated[bool, "A scripted chat, not a language model, answered, simulated or judged."]
    fingerprint: Annotated[str | None, "Fingerprint of the chat model that answered."] = None
    prompts: Annotated[list[str], "The answer prompts behind it, as `name@digest`."] = field(
        default_factory=list
    )
    replaced_prompts: Annotated[
        list[str], "The prompts behind it that the user replaced, as `name@digest`; empty where none is."
    ] = field(default_factory=list)
    embedder: Annotated[str | None, "The embedder, where the memory retrieves by embeddings."] = None
    k: Annotated[int | None, "Entries that the memory recalls at most, where it has such a parameter."] = None
    budget: Annotated[
        int | None, "Tokens that the memory injects at most, where it has such a parameter."
    ] = None
    injected_tokens: Annotated[float | None, "Mean tokens that the memory put into a prompt (estimated)."] = (
        None
    )
    memory_models: Annotated[
        str | None,
        "The models of a memory server whose requests are not in the usage; null where all requests are counted.",
    ] = None
    imported: Annotated[
        str | None,
        "The recorded run of other code that the results are of; null where memflow ran the assistant.",
    ] = None
    differing_settings: Annotated[
        str | None, "Settings that differ from those of the assistants it is compared with."
    ] = None
    incomplete: Annotated[
        str | None,
        "What the results lack: data sets, users beyond a limit, quarantined rows, failed replies, dropped messages.",
    ] = None
    rank_low: Annotated[
        int | None,
        "1 + the assistants that are significantly better; null where assistants are not compared.",
    ] = None
    rank_high: Annotated[
        int | None, "The assistants that are not significantly worse, this one included."
    ] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One row per two assistants of a domain, metric, variant and slice: their paired difference a - b."""

    domain: Domain
    metric: Annotated[str, "The metric; score.metrics describes it."]
    variant: Annotated[str, "`standard`, or the named deviation."] = "standard"
    slice: Annotated[str, "`all`, `period 3`, `category 2`, `dataset locomo`, ..."] = "all"
    a: Annotated[str, "The first assistant. Each two assistants have one row."]
    b: Annotated[str, "The second assistant."]
    value_a: Annotated[float | None, "The score of a over the pairs."] = None
    value_b: Annotated[float | None, "The score of b over the pairs."] = None
    difference: Annotated[float | None, "value_a - value_b; null without pairs."] = None
    low: Annotated[float | None, "Lower end of the 95 % interval over episodes; null for one episode."] = None
    high: Annotated[float | None, "Upper end of the 95 % interval."] = None
    p: Annotated[float | None, "Two-sided p value of the sign-flip test over episodes."] = None
    p_adjusted: Annotated[
        float | None, "p by Holm's method, over all pairs of assistants under this metric, variant and slice."
    ] = None
    n: Annotated[int, "Pairs: probes (or questions) with a value for both."]
    n_episodes: Annotated[int, "Episodes of the pairs."]
    unpaired_a: Annotated[int, "Probes with a value for a only."] = 0
    unpaired_b: Annotated[int, "Probes with a value for b only."] = 0
    episodes_needed: Annotated[
        int | None, "Episodes with which a difference of this size is found in 80 % of all studies."
    ] = None
    better: Annotated[str | None, "`a` or `b` if p_adjusted is at most 0.05; otherwise null."] = None
    scripted: Annotated[bool, "A scripted chat, not a language model, is behind a or b."]
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedScore(Score):
    """One row per publication and score whose values or inputs differ from those published before."""

    publication: Annotated[int, "The number of the publication, from 1."]
    published_at: Annotated[str, "When the scores were computed: ISO 8601, UTC."]
    run: Annotated[str | None, "The run that published."] = None
    inputs: Annotated[list[str], "Content hashes of the probes and of the verdicts."] = field(
        default_factory=list
    )
    judge: Annotated[str | None, "The judges of the domain; null where no metric has a judge."] = None
    removed: Annotated[bool, "The score is no longer on the leaderboard; its value is null."] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """One row per change of an assistant's inputs, and metric, variant and slice whose score it may have changed."""

    domain: Domain
    assistant: Assistant
    published_at: Annotated[str, "When the score after the change was first published, UTC, ISO 8601."]
    before_at: Annotated[str, "When the score before the change was published."]
    changes: Annotated[
        list[str], "What changed, one line each: `simulator: NAME (fingerprint) -> NAME (fingerprint)`."
    ]
    metric: Annotated[str, "The metric."]
    variant: Annotated[str, "`standard`, or the named deviation."] = "standard"
    slice: Annotated[str, "`all`, or a slice of the benchmark."] = "all"
    before: Annotated[float | None, "The score before the change; null without a value."] = None
    after: Annotated[float | None, "The score after the change; null without a value."] = None
    difference: Annotated[float | None, "`after` minus `before`."] = None
    low: Annotated[float | None, "Lower end of the difference's 95 % interval, over episodes."] = None
    high: Annotated[float | None, "Upper end of the 95 % interval."] = None
    p: Annotated[float | None, "p value of no difference; null for a single episode."] = None
    p_adjusted: Annotated[float | None, "p adjusted over all scores of the publication (Holm)."] = None
    moved: Annotated[bool, "The difference is beyond noise: `p_adjusted` is at most 0.05."] = False
    improved: Annotated[bool | None, "The score is better after the change; null if equal or unordered."] = (
        None
    )
    users: Annotated[float | None, "Part of the difference from other users: messages and probes."] = None
    answers: Annotated[float | None, "Part from other answers to unchanged users."] = None
    judging: Annotated[float | None, "Part from other verdicts on unchanged answers."] = None
    changed_users: Annotated[int, "Probes that are new or removed, or with other messages before them."]
    changed_answers: Annotated[int, "Probes of unchanged users with another answer."]
    changed_judging: Annotated[int, "Probes with an unchanged answer and another value."]
    paired: Annotated[bool, "The test pairs probes; otherwise it compares two samples of episodes."]
    n_before: Annotated[int, "Probes with a value before the change."]
    n_after: Annotated[int, "Probes with a value after the change."]
    episodes_before: Annotated[int, "Episodes of the probes before the change."]
    episodes_after: Annotated[int, "Episodes of the probes after the change."]
    evaluations: Annotated[str, "Content hash of both evaluations, of before and after the change."] = ""
    reason: Annotated[str | None, "Why there is no difference or no test; null where both exist."] = None


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
    "score.comparisons": Comparison,
    "score.leaderboard": Score,
    "score.history": PublishedScore,
    "score.drift": Drift,
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
    "score.claims": ("domain", "assistant", "claim_id", "variant"),
    "score.comparisons": ("domain", "metric", "variant", "slice", "a", "b"),
    "score.leaderboard": ("domain", "assistant", "metric", "variant", "slice"),
    "score.history": ("publication", "domain", "assistant", "metric", "variant", "slice"),
    "score.drift": ("published_at", "domain", "assistant", "metric", "variant", "slice"),
}
"""The key columns of each table."""

APPEND_ONLY = frozenset({"score.history"})
"""Tables to which rows are only added, so that the lake keeps no earlier versions of them."""

MEASURED = frozenset(
    {"latency_s", "models_s", "own_s", "model_calls", "completion", "prompt_tokens", "completion_tokens"}
)
"""Columns that measure a run; they are excluded from content hashes."""

BY_EVIDENCE = "by_evidence"
"""The variant of failure rates attributed by evidence, beside AMemGym's own."""

RECALL_AT_10 = "recall_at_10"
"""Recall of evidence by the ten best entries, where `evidence_recall` is by all that a memory recalls."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table: its name, Python type, nullability and description."""

    name: str
    type: Any
    nullable: bool
    description: str


@cache
def columns(table: str) -> tuple[Column, ...]:
    """Return the columns of `table` in order; types are str, int, float, bool, list[str] or list[float]."""
    row = TABLES[table]
    hints = typing.get_type_hints(row, include_extras=True)
    found = []
    for each in fields(row):
        plain, description = typing.get_args(hints[each.name])[:2]
        options = [option for option in typing.get_args(plain) if option is not type(None)]
        nullable = type(None) in typing.get_args(plain)
        found.append(Column(each.name, options[0] if nullable else plain, nullable, description))
    return tuple(found)


def required(table: str) -> list[str]:
    """Return the names of a table's columns that have no default value, so every row must set them."""
    return [f.name for f in fields(TABLES[table]) if f.default is MISSING and f.default_factory is MISSING]
