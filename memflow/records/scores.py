"""The rows of `score.*`: verdicts, attributions, claims, health, scores and their comparisons."""

from dataclasses import dataclass, field
from typing import Annotated

from memflow.records.fields import Assistant, Checkpoint, Domain, Episode, Reason


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
    item: Annotated[
        str | None, "What it judges, where an answer has several verdicts, such as an item of a rubric."
    ] = None
    judge_reply: Annotated[
        str | None, "The judge's raw reply with its reason, where a benchmark keeps it."
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
class ProbeRetrieval:
    """One row per probe with evidence and ranking of the entries that an assistant's memory had stored by then."""

    domain: Domain
    assistant: Assistant
    probe_id: Annotated[str, "The probe."]
    episode_id: Episode
    checkpoint: Checkpoint
    ranking: Annotated[
        str,
        "`memory`: what it recalled itself; `vector`, `text` or `hybrid` search; `random`: random orders.",
    ]
    evidence: Annotated[int, "Messages that the answer rests on, and that had been said by then."]
    stored: Annotated[int | None, "How many of them an entry that was not retired came from."] = None
    entries: Annotated[int | None, "Entries that can be recalled, without summaries of everything."] = None
    k: Annotated[int | None, "How many of these entries the memory recalled; a ranking recalls no more."] = (
        None
    )
    tokens: Annotated[int | None, "Their estimated tokens; the entries of a ranking have no more."] = None
    recalled: Annotated[
        float | None, "Evidence messages that are recalled; of random orders, the mean number."
    ] = None
    ranks: Annotated[
        list[float], "Ranks of the first entries that came from evidence, among all that were ranked."
    ] = field(default_factory=list)
    read: Annotated[float | None, "Part of the answer's loss that is a read failure of the memory."] = None
    avoided: Annotated[
        float | None, "How much of it this ranking would avoid; negative where it recalls less."
    ] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRanking:
    """One row per probe with evidence: what an assistant's memory recalls for it, read without an answer."""

    domain: Domain
    assistant: Assistant
    probe_id: Annotated[str, "The probe."]
    episode_id: Episode
    checkpoint: Checkpoint
    category: Annotated[str | None, "The data set's own category."] = None
    language: Annotated[str, "The language of the question: `en` or `zh`."] = "en"
    evidence: Annotated[int, "Messages that the answer rests on, and that had been said by then."]
    position: Annotated[
        float | None,
        "Mean position of these messages in the history before the question: 0 the oldest, 1 the newest.",
    ] = None
    stored: Annotated[int | None, "How many of them an entry that was not retired came from."] = None
    entries: Annotated[int | None, "Entries that can be recalled, without summaries of everything."] = None
    relevant_entries: Annotated[int | None, "How many of these entries came from evidence."] = None
    limit: Annotated[
        int | None, "Entries that were requested at most; null where the memory has no such parameter."
    ] = None
    returned: Annotated[int | None, "Entries that were ranked; null where the memory does not rank."] = None
    found: Annotated[list[float], "Ranks of the first entry that came from each evidence message."] = field(
        default_factory=list
    )
    relevant: Annotated[list[float], "Ranks of the entries that came from evidence."] = field(
        default_factory=list
    )
    k: Annotated[int | None, "Entries that the memory recalls with its own parameters."] = None
    tokens: Annotated[int | None, "Estimated tokens that it would add to a prompt."] = None
    recalled: Annotated[int | None, "Evidence messages that these entries came from."] = None
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
class HealthMeasure:
    """One row per measure of what an assistant's memory did with what it was given."""

    domain: Domain
    assistant: Assistant
    measure: Annotated[str, "The measure; docs/explanation/trust.md describes it."]
    state: Annotated[str, "`ok`, `suspect`, `faulty` or `not measurable`."]
    value: Annotated[float | None, "The measured share or number; null where it is not measurable."] = None
    n: Annotated[int, "The messages, reads or entries that were examined."]
    affected: Annotated[int, "How many of them show what the measure looks for."]
    statement: Annotated[str, "The result in one sentence, with its numbers."]
    examples: Annotated[list[str], "Ids of probes, messages or entries, where some are affected."] = field(
        default_factory=list
    )
    percentiles_s: Annotated[
        list[float], "For a latency: the 50th, 95th and 99th percentile in seconds; otherwise empty."
    ] = field(default_factory=list)
    reason: Annotated[str | None, "Why it is not measurable; null where it is."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One row per domain, assistant, metric, variant and slice."""

    domain: Domain
    assistant: Assistant
    memory: Annotated[str, "The memory system with its parameters."]
    model: Annotated[str, "The chat model that answered."]
    metric: Annotated[str, "The metric; score.metrics describes it."]
    variant: Annotated[str, "`standard`, or the named deviation."] = "standard"
    slice: Annotated[str, "`all`, `period 3`, `category 2`, `dataset NAME`, ..."] = "all"
    value: Annotated[float | None, "The score; null where it may not be shown."] = None
    low: Annotated[float | None, "Lower end of the 95 % interval, over what is independent."] = None
    high: Annotated[float | None, "Upper end of the 95 % interval."] = None
    interval_reason: Annotated[
        str | None, "Why there is no interval, such as `2 episodes`; null where there is one, or no value."
    ] = None
    interval_units: Annotated[
        str | None, "What the interval is over: `episodes`, or independent `cases`; null without an interval."
    ] = None
    judge_low: Annotated[float | None, "The lowest judge's score, where there are several judges."] = None
    judge_high: Annotated[float | None, "The highest judge's score, where there are several judges."] = None
    self_judges: Annotated[
        list[str], "The judges of this score whose model also answered; empty where none did."
    ] = field(default_factory=list)
    judge_sensitivity: Annotated[
        float | None, "Known-right answers that the judge accepts, by its worst prompt and language."
    ] = None
    judge_sensitivity_low: Annotated[float | None, "Lower end of its 95 % interval."] = None
    judge_sensitivity_high: Annotated[float | None, "Upper end."] = None
    judge_specificity: Annotated[float | None, "Known-wrong answers that this judge rejects."] = None
    judge_specificity_low: Annotated[float | None, "Lower end of its 95 % interval."] = None
    judge_specificity_high: Annotated[float | None, "Upper end."] = None
    judge_calibration: Annotated[
        str | None,
        "Whether the judge was calibrated, and its verdicts count: `passed`, `withheld` or `not calibrated`, with the "
        "reason; null where no judge decides.",
    ] = None
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
    health: Annotated[
        str | None,
        "The worst state of its memory's health: `ok`, `suspect`, `faulty`, `not measurable`; null where not measured.",
    ] = None
    health_reason: Annotated[
        str | None, "What score.health states of a suspect or faulty memory; null for others."
    ] = None
    rank_low: Annotated[
        int | None,
        "1 + the assistants that are significantly better; null where assistants are not compared.",
    ] = None
    rank_high: Annotated[
        int | None, "The assistants that are not significantly worse, this one included."
    ] = None
    repeats: Annotated[int | None, "Evaluations, this one included; null without repeats."] = None
    repeats_of: Annotated[str | None, "What the repeats did again: `answers`, `run` or `judge`."] = None
    repeat_mean: Annotated[float | None, "The mean of the score over these evaluations."] = None
    repeat_deviation: Annotated[
        float | None,
        "Sample standard deviation of this score over these evaluations, of this assistant alone.",
    ] = None
    noise: Annotated[
        float | None, "Standard deviation of the score between evaluations, pooled over assistants."
    ] = None
    noise_low: Annotated[float | None, "Lower end of the noise's 95 % interval (chi-square)."] = None
    noise_high: Annotated[float | None, "Upper end of the noise's 95 % interval."] = None
    noise_degrees: Annotated[int | None, "Degrees of freedom of the noise."] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """One row per judge, judge prompt and language of a domain: its verdicts on known answers."""

    domain: Domain
    judge: Annotated[str, "The judge's name in the settings."]
    metric: Annotated[str, "The metric that the prompt decides; score.metrics describes it."]
    prompt: Annotated[str, "The judge's prompt."]
    language: Annotated[str, "`en` or `zh`."]
    cases: Annotated[int, "Known answers; 0 for a prompt without any, whose verdict is on a scale."]
    right: Annotated[int, "Known-right answers with a verdict in form."]
    accepted_right: Annotated[int, "Those that the judge accepts."]
    sensitivity: Annotated[float | None, "accepted_right / right."] = None
    sensitivity_low: Annotated[float | None, "Lower end of its 95 % interval, over items."] = None
    sensitivity_high: Annotated[float | None, "Upper end."] = None
    wrong: Annotated[int, "Known-wrong answers with a verdict in form."]
    accepted_wrong: Annotated[int, "Those that the judge accepts."]
    specificity: Annotated[float | None, "1 - accepted_wrong / wrong."] = None
    specificity_low: Annotated[float | None, "Lower end of its 95 % interval, over items."] = None
    specificity_high: Annotated[float | None, "Upper end."] = None
    out_of_form: Annotated[int, "Known answers without a verdict in form; neither right nor wrong."]
    youden_low: Annotated[float | None, "Lower 95 % limit of sensitivity + specificity - 1."] = None
    passed: Annotated[bool | None, "That limit is at least 0.5; null without known answers."] = None
    scripted: Annotated[bool, "The judge is a scripted chat, not a language model."]
    fingerprint: Annotated[str, "Fingerprint of the judge."]
    reason: Annotated[str | None, "Why its verdicts do not count; null where they do."] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One row per two assistants of a domain, metric, variant and slice: their paired difference a - b."""

    domain: Domain
    metric: Annotated[str, "The metric; score.metrics describes it."]
    variant: Annotated[str, "`standard`, or the named deviation."] = "standard"
    slice: Annotated[str, "`all`, `period 3`, `category 2`, `dataset NAME`, ..."] = "all"
    a: Annotated[str, "The first assistant. Each two assistants have one row."]
    b: Annotated[str, "The second assistant."]
    value_a: Annotated[float | None, "The score of a over the pairs."] = None
    value_b: Annotated[float | None, "The score of b over the pairs."] = None
    difference: Annotated[float | None, "value_a - value_b; null without pairs."] = None
    low: Annotated[float | None, "Lower end of the 95 % interval over episodes; null without one."] = None
    high: Annotated[float | None, "Upper end of the 95 % interval."] = None
    p: Annotated[float | None, "Two-sided p value of the sign-flip test over episodes."] = None
    p_adjusted: Annotated[
        float | None, "p by Holm's method, over all pairs of assistants under this metric, variant and slice."
    ] = None
    family: Annotated[int | None, "The number of comparisons that p is adjusted over."] = None
    n: Annotated[int, "Pairs: probes (or questions) with a value for both."]
    n_episodes: Annotated[int, "Episodes of the pairs."]
    unpaired_a: Annotated[int, "Probes with a value for a only."] = 0
    unpaired_b: Annotated[int, "Probes with a value for b only."] = 0
    episodes_needed: Annotated[
        int | None,
        "Episodes of which 80 % of studies find such a difference, over all probes; 100000 stands for more.",
    ] = None
    episodes_needed_low: Annotated[int | None, "Lower end of its 5 to 95 % range."] = None
    episodes_needed_high: Annotated[int | None, "Upper end of its 5 to 95 % range."] = None
    better: Annotated[str | None, "`a` or `b` if p_adjusted is at most 0.05; otherwise null."] = None
    health_a: Annotated[str | None, "The health of a: score.leaderboard describes it."] = None
    health_b: Annotated[str | None, "The health of b."] = None
    noise: Annotated[
        float | None, "Standard deviation of the difference between repeats; null without repeats."
    ] = None
    noise_low: Annotated[float | None, "Lower end of the noise's 95 % interval (chi-square)."] = None
    noise_high: Annotated[float | None, "Upper end of the noise's 95 % interval."] = None
    within_noise: Annotated[
        bool | None, "Whether noise alone can cause a difference of this size (95 %); null without repeats."
    ] = None
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
    judge: Annotated[
        str | None, "The judges that decided the values behind the score; null where no judge did."
    ] = None
    simulator_model: Annotated[
        str | None, "The model that played the users, with a short fingerprint; null where none did."
    ] = None
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
    family: Annotated[
        int | None, "The number of scores that p is adjusted over: those with a changed value."
    ] = None
    can_be_significant: Annotated[bool, "Whether `p_adjusted` can be at most 0.05 with these episodes."] = (
        True
    )
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
    reason: Annotated[str | None, "Why there is no difference, interval or test; null where all exist."] = (
        None
    )


BY_EVIDENCE = "by_evidence"
"""The variant of failure rates attributed by evidence, beside AMemGym's own."""

RECALL_AT_10 = "recall_at_10"
"""Recall of evidence by the ten best entries, where `evidence_recall` is by all that a memory recalls."""
