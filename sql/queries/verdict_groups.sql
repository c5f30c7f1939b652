-- Sums over the verdicts of a domain: one row per assistant, data set, category, metric, variant, checkpoint and
-- episode, with the number of verdicts, the number of values, and their sum, sum of squares, minimum and maximum.
-- Decimal sums do not depend on the order of rows.
-- Parameters: $domain.
SELECT
    assistant,
    dataset,
    category,
    metric,
    variant,
    checkpoint,
    episode_id,
    count(*) AS asked,
    count(value) AS scored,
    coalesce(sum(value::DECIMAL(38, 15)), 0)::DOUBLE AS total,
    coalesce(sum((value * value)::DECIMAL(38, 15)), 0)::DOUBLE AS squares,
    min(value) AS low,
    max(value) AS high
FROM score.verdicts
WHERE domain = $domain
GROUP BY assistant, dataset, category, metric, variant, checkpoint, episode_id
ORDER BY assistant, dataset, category NULLS FIRST, metric, variant, checkpoint, episode_id
