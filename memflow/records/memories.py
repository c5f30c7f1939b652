"""The rows of `memory.*` and `answer.*`: what an assistant stored and answered."""

from dataclasses import dataclass, field
from typing import Annotated

from memflow.records.episodes import FeedbackRound
from memflow.records.fields import Assistant, Checkpoint, Cut, Domain, Episode, Reason


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
    forgets: Annotated[str | None, "The request to forget that the message makes, as JSON."] = None
    ended_entries: Annotated[
        int | None,
        "Entries that the memory ended on this request; null without a request, or where it did not obey.",
    ] = None
    forget_failure: Annotated[str | None, "Why the memory did not obey the request; null if it did."] = None
    forget_s: Annotated[float | None, "Seconds of the deletion, of models and the memory's own."] = None
    forget_calls: Annotated[int | None, "Number of completions of the deletion."] = None


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
    text: Annotated[
        str | None, "The assistant's raw answer; for a probe that asks none, a JSON list of texts."
    ] = None
    parsed: Annotated[
        str | None,
        "The parsed answer; null where parsing failed. For a probe that asks none, what the texts are: `messages`, "
        "`texts` of the memory, `declared` by its server, or `recalled`.",
    ] = None
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


QUARANTINED_PROBE = "the probe is quarantined"
"""The beginning of the reason of a reply to a quarantined probe, which was not asked."""
NOT_MEASURABLE = "not measurable"
"""The beginning of the reason of a reply to a probe that asks no answer, where the memory shows nothing."""


def is_failed_reply(reply: Reply) -> bool:
    """Return whether a probe was asked without result. An answer that cannot be parsed is a result: it is scored."""
    unfailed = (QUARANTINED_PROBE, NOT_MEASURABLE)
    return reply.reason is not None and not reply.text and not reply.reason.startswith(unfailed)
