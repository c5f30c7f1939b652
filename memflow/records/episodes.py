"""The rows of `utterance.*`, `question.*` and `feedback.*`: episodes before an assistant plays them."""

from dataclasses import dataclass, field
from typing import Annotated

from memflow.records.fields import Checkpoint, Cut, Domain, Episode, Reason


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
    caption: Annotated[str | None, "The end of the text that describes a shared image."] = None
    follow_ups: Annotated[int, "Number of follow-up messages of the simulator after the reply."] = 0
    exposes: Annotated[
        str | None, "Gold, never given to a memory: the state values that it reveals, as JSON."
    ] = None
    forgets: Annotated[
        str | None,
        "The request to forget that the message makes (`ForgetRequest`), as JSON: the memory gets it, too.",
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


SEARCH, WRITTEN, STORED = "search", "written", "stored"
UNASKED = frozenset({SEARCH, WRITTEN, STORED})
"""The kinds of probes that ask no answer (memflow/run/unasked.py)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One row per question asked at a checkpoint, or per look into the memory there."""

    domain: Domain
    probe_id: Annotated[str, "Unique within the domain."]
    episode_id: Episode
    checkpoint: Checkpoint
    kind: Annotated[
        str,
        "`choice`, `open`, or `state` (AMemGym's diagnosis). Without an answer: `search`, the memory is read with the "
        "question; `written`, what the writes of the checkpoint added; `stored`, what the memory contains.",
    ]
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
