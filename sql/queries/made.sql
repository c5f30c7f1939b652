-- Generated rows: one row per domain and table, with the number of rows, of quarantined rows, and the most frequent
-- reasons with an example and a count. For gold labels also the number of questions left out, with an example.
-- Parameters (null: all): $domain.
WITH made AS (
    SELECT
        1 AS place,
        'state.profiles' AS table_name,
        domain,
        reason,
        NULL AS left_out,
        NULL AS dropped
    FROM state.profiles
    UNION ALL
    SELECT
        2 AS place,
        'utterance.turns' AS table_name,
        domain,
        reason,
        NULL AS left_out,
        NULL AS dropped
    FROM utterance.turns
    UNION ALL
    SELECT
        3 AS place,
        'question.keys' AS table_name,
        domain,
        reason,
        CASE WHEN dropped IS NOT NULL THEN question_id END AS left_out,
        dropped
    FROM question.keys
    UNION ALL
    SELECT
        4 AS place,
        'question.probes' AS table_name,
        domain,
        reason,
        NULL AS left_out,
        NULL AS dropped
    FROM question.probes
    UNION ALL
    SELECT
        5 AS place,
        'feedback.sessions' AS table_name,
        domain,
        reason,
        NULL AS left_out,
        NULL AS dropped
    FROM feedback.sessions
),

counted AS (
    SELECT
        place,
        table_name,
        domain,
        count(*) AS n,
        count(reason) AS quarantined,
        count(DISTINCT left_out) AS left_out,
        min(dropped) AS dropped
    FROM made
    GROUP BY place, table_name, domain
),

told AS (
    SELECT
        table_name,
        domain,
        min(reason) AS reason,
        count(*) AS times,
        row_number() OVER (PARTITION BY table_name, domain ORDER BY count(*) DESC, min(reason) ASC) AS rank
    FROM made
    WHERE reason IS NOT NULL
    -- Reasons are counted without the details of the last answer, which differ.
    GROUP BY table_name, domain, split_part(reason, '; the last:', 1)
),

most AS (
    SELECT
        table_name,
        domain,
        list(reason ORDER BY rank) AS reasons,
        list(times ORDER BY rank) AS times
    FROM told
    WHERE rank <= 3
    GROUP BY table_name, domain
)

SELECT
    counted.domain,
    counted.table_name,
    counted.n,
    counted.quarantined,
    counted.left_out,
    counted.dropped,
    coalesce(most.reasons, []) AS reasons,
    coalesce(most.times, []) AS times
FROM counted
LEFT JOIN most ON counted.table_name = most.table_name AND counted.domain = most.domain
WHERE $domain IS NULL OR counted.domain = $domain
ORDER BY counted.domain ASC, counted.place ASC
