-- Quarantined rows and the most frequent reason: one row per table, domain and assistant, most rows first.
-- Parameters (null: all): $domain.
WITH quarantined AS (
    SELECT
        'state.profiles' AS table_name,
        domain,
        NULL AS assistant,
        reason
    FROM state.profiles
    UNION ALL
    SELECT
        'utterance.turns' AS table_name,
        domain,
        NULL AS assistant,
        reason
    FROM utterance.turns
    UNION ALL
    SELECT
        'question.keys' AS table_name,
        domain,
        NULL AS assistant,
        reason
    FROM question.keys
    UNION ALL
    SELECT
        'question.probes' AS table_name,
        domain,
        NULL AS assistant,
        reason
    FROM question.probes
    UNION ALL
    SELECT
        'feedback.sessions' AS table_name,
        domain,
        NULL AS assistant,
        reason
    FROM feedback.sessions
    UNION ALL
    SELECT
        'memory.transcripts' AS table_name,
        domain,
        assistant,
        reason
    FROM memory.transcripts
    UNION ALL
    SELECT
        'memory.policies' AS table_name,
        domain,
        assistant,
        reason
    FROM memory.policies
    UNION ALL
    SELECT
        'memory.feedback' AS table_name,
        domain,
        assistant,
        reason
    FROM memory.feedback
    UNION ALL
    SELECT
        'answer.replies' AS table_name,
        domain,
        assistant,
        reason
    FROM answer.replies
    UNION ALL
    SELECT
        'score.verdicts' AS table_name,
        domain,
        assistant,
        reason
    FROM score.verdicts
    UNION ALL
    SELECT
        'score.claims' AS table_name,
        domain,
        assistant,
        reason
    FROM score.claims
    UNION ALL
    SELECT
        'score.leaderboard' AS table_name,
        domain,
        assistant,
        reason
    FROM score.leaderboard
)

SELECT
    table_name,
    domain,
    assistant,
    count(*) AS n,
    min(reason) AS example
FROM quarantined
WHERE reason IS NOT NULL AND ($domain IS NULL OR domain = $domain)
GROUP BY table_name, domain, assistant
ORDER BY n DESC, table_name ASC, domain ASC, assistant ASC NULLS FIRST
