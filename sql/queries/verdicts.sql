-- Verdicts with gold and parsed answer: one row per reply, metric and variant.
-- Parameters (null: all): $domain, $assistant, $episode, $checkpoint, $metric, $quarantined (a boolean), $limit.
SELECT
    verdicts.domain,
    verdicts.assistant,
    verdicts.episode_id,
    verdicts.checkpoint,
    verdicts.probe_id,
    probes.kind,
    verdicts.category,
    probes.gold,
    replies.parsed,
    verdicts.metric,
    verdicts.variant,
    verdicts.value,
    coalesce(verdicts.reason, replies.reason) AS reason
FROM score.verdicts AS verdicts
LEFT JOIN answer.replies AS replies
    ON
        verdicts.domain = replies.domain
        AND verdicts.assistant = replies.assistant
        AND verdicts.probe_id = replies.probe_id
LEFT JOIN question.probes AS probes
    ON verdicts.domain = probes.domain AND verdicts.probe_id = probes.probe_id
WHERE
    ($domain IS NULL OR verdicts.domain = $domain)
    AND ($assistant IS NULL OR verdicts.assistant = $assistant)
    AND ($episode IS NULL OR verdicts.episode_id = $episode)
    AND ($checkpoint IS NULL OR verdicts.checkpoint = $checkpoint)
    AND ($metric IS NULL OR verdicts.metric = $metric)
    AND ($quarantined IS NULL OR (verdicts.reason IS NOT NULL) = $quarantined)
ORDER BY
    verdicts.domain, verdicts.assistant, verdicts.episode_id, verdicts.checkpoint,
    verdicts.probe_id, verdicts.metric, verdicts.variant
LIMIT $limit
