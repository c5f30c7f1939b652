-- The leaderboard of one slice: one row per score, with the settings behind it, best first by the direction of the
-- metric (score.metrics); metrics without a direction are ordered by memory. The failure rates are attributed by
-- evidence, over all probes.
-- Parameters, each null for all: $domain, $memory, $model, $metric, $variant; $slice is `all` when null.
WITH failures AS (
    SELECT
        domain,
        assistant,
        max(value) FILTER (WHERE metric = 'evidence_recall') AS evidence_recall,
        max(value) FILTER (WHERE metric = 'evidence_precision') AS evidence_precision,
        max(value) FILTER (WHERE metric = 'recall_at_10') AS recall_at_10,
        max(value) FILTER (WHERE metric = 'write_failure') AS write_failure,
        max(value) FILTER (WHERE metric = 'read_failure') AS read_failure,
        max(value) FILTER (WHERE metric = 'utilization_failure') AS utilization_failure
    FROM score.leaderboard
    WHERE
        slice = 'all'
        AND (variant = 'by_evidence' OR metric IN ('evidence_recall', 'evidence_precision', 'recall_at_10'))
    GROUP BY domain, assistant
)

SELECT
    leaderboard.domain,
    leaderboard.memory,
    leaderboard.model,
    leaderboard.metric,
    leaderboard.variant,
    leaderboard.slice,
    leaderboard.value,
    leaderboard.low,
    leaderboard.high,
    leaderboard.judge_low,
    leaderboard.judge_high,
    leaderboard.self_judges,
    leaderboard.n,
    leaderboard.planned,
    leaderboard.n_episodes AS episodes,
    leaderboard.coverage,
    failures.evidence_recall,
    failures.evidence_precision,
    failures.recall_at_10,
    failures.write_failure,
    failures.read_failure,
    failures.utilization_failure,
    leaderboard.injected_tokens,
    leaderboard.embedder,
    leaderboard.replaced_prompts,
    leaderboard.k,
    leaderboard.budget,
    leaderboard.memory_models,
    leaderboard.imported,
    leaderboard.differing_settings,
    leaderboard.incomplete,
    leaderboard.scripted,
    leaderboard.reason
FROM score.leaderboard AS leaderboard
LEFT JOIN failures
    ON leaderboard.domain = failures.domain AND leaderboard.assistant = failures.assistant
LEFT JOIN score.metrics AS metrics ON split_part(leaderboard.metric, '[', 1) = metrics.metric
WHERE
    leaderboard.slice = coalesce($slice, 'all')
    AND ($domain IS NULL OR leaderboard.domain = $domain)
    AND ($memory IS NULL OR leaderboard.memory = $memory)
    AND ($model IS NULL OR leaderboard.model = $model)
    AND ($metric IS NULL OR leaderboard.metric = $metric)
    AND ($variant IS NULL OR leaderboard.variant = $variant)
ORDER BY
    leaderboard.domain ASC,
    leaderboard.metric ASC,
    leaderboard.variant ASC,
    CASE metrics.direction
        WHEN 'higher' THEN -leaderboard.value
        WHEN 'lower' THEN leaderboard.value
    END ASC NULLS LAST,
    leaderboard.memory ASC,
    leaderboard.model ASC
