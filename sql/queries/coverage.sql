-- Coverage: the share of probes with a verdict; one row per domain, assistant, metric and variant.
-- Parameters (null: all): $domain, $assistant.
WITH replied AS (
    SELECT
        domain,
        assistant,
        count(*) AS asked,
        count(reason) AS quarantined
    FROM answer.replies
    GROUP BY domain, assistant
),

judged AS (
    SELECT
        domain,
        assistant,
        metric,
        variant,
        count(*) AS verdicts,
        count(value) AS scored,
        count(reason) AS quarantined
    FROM score.verdicts
    GROUP BY domain, assistant, metric, variant
)

SELECT
    replied.domain,
    replied.assistant,
    replied.asked,
    replied.quarantined AS quarantined_replies,
    judged.metric,
    judged.variant,
    judged.verdicts,
    judged.scored,
    judged.quarantined AS quarantined_verdicts,
    judged.scored / nullif(judged.verdicts, 0) AS coverage
FROM replied
LEFT JOIN judged
    ON replied.domain = judged.domain AND replied.assistant = judged.assistant
WHERE
    ($domain IS NULL OR replied.domain = $domain)
    AND ($assistant IS NULL OR replied.assistant = $assistant)
ORDER BY replied.domain, replied.assistant, judged.metric, judged.variant
