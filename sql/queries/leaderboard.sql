-- How does every assistant do, on what terms, and what are its failures due to? The figures of one slice (all, unless
-- another is named), best first. Failures are those by evidence, over all; AMemGym's own stand among the metrics.
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
    board.domain,
    board.memory,
    board.model,
    board.metric,
    board.variant,
    board.slice,
    board.value,
    board.low,
    board.high,
    board.n,
    board.n_episodes AS episodes,
    board.coverage,
    failures.evidence_recall,
    failures.evidence_precision,
    failures.recall_at_10,
    failures.write_failure,
    failures.read_failure,
    failures.utilization_failure,
    board.injected_tokens,
    board.k,
    board.budget,
    board.differing_settings,
    board.scripted,
    board.reason
FROM score.leaderboard AS board
LEFT JOIN failures
    ON board.domain = failures.domain AND board.assistant = failures.assistant
WHERE
    board.slice = coalesce($slice, 'all')
    AND ($domain IS NULL OR board.domain = $domain)
    AND ($memory IS NULL OR board.memory = $memory)
    AND ($model IS NULL OR board.model = $model)
    AND ($metric IS NULL OR board.metric = $metric)
    AND ($variant IS NULL OR board.variant = $variant)
ORDER BY
    board.domain ASC, board.metric ASC, board.variant ASC, board.value DESC NULLS LAST, board.memory ASC,
    board.model ASC
