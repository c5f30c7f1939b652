-- What are the verdicts of a domain like, in groups? One row per assistant, data set, category, metric, variant,
-- checkpoint and episode: how many, how many with a value, and these values' sum, sum of squares and extremes.
-- Sums are of decimals: they are the same in whatever order the rows are read.
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
