-- One probe: one row per assistant and metric, with question, gold, recalled entries, prompt tokens, reply and verdict.
-- A probe that no assistant was asked has one row without a reply.
-- Parameters: $probe_id; $domain and $assistant (null: all).
WITH recalled AS (
    SELECT
        replies.domain,
        replies.assistant,
        replies.probe_id,
        list(entries.text ORDER BY list_position(replies.recalled, entries.entry_id)) AS texts
    FROM answer.replies AS replies
    INNER JOIN memory.indexes AS entries
        ON
            replies.domain = entries.domain
            AND replies.assistant = entries.assistant
            AND replies.episode_id = entries.episode_id
            AND list_contains(replies.recalled, entries.entry_id)
    WHERE replies.probe_id = $probe_id
    GROUP BY replies.domain, replies.assistant, replies.probe_id
)

SELECT
    probes.domain,
    probes.probe_id,
    probes.dataset,
    probes.category,
    probes.kind,
    probes.split,
    probes.episode_id,
    probes.checkpoint,
    probes.question,
    probes.options,
    probes.gold,
    probes.revealed,
    probes.evidence,
    probes.reason AS probe_reason,
    replies.assistant,
    replies.recalled,
    recalled.texts AS recalled_texts,
    replies.recalled_sources,
    replies.injected_tokens,
    replies.dropped_tokens,
    replies.dropped_messages,
    replies.prompt_tokens,
    replies.completion_tokens,
    replies.latency_s,
    replies.attempts,
    replies.completion,
    replies.text AS reply,
    replies.parsed,
    replies.reason AS reply_reason,
    verdicts.metric,
    verdicts.variant,
    verdicts.value,
    verdicts.reason AS verdict_reason
FROM question.probes AS probes
LEFT JOIN answer.replies AS replies
    ON
        probes.domain = replies.domain
        AND probes.probe_id = replies.probe_id
        AND ($assistant IS NULL OR replies.assistant = $assistant)
LEFT JOIN recalled
    ON
        replies.domain = recalled.domain
        AND replies.assistant = recalled.assistant
        AND replies.probe_id = recalled.probe_id
LEFT JOIN score.verdicts AS verdicts
    ON
        replies.domain = verdicts.domain
        AND replies.assistant = verdicts.assistant
        AND replies.probe_id = verdicts.probe_id
WHERE
    probes.probe_id = $probe_id
    AND ($domain IS NULL OR probes.domain = $domain)
ORDER BY probes.domain, replies.assistant, verdicts.metric, verdicts.variant
