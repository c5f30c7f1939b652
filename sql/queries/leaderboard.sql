-- How does every assistant do? The figures of one slice (all, unless another is named), best first.
-- Parameters, each null for all: $domain, $memory, $model, $metric, $variant; $slice is `all` when null.
SELECT
    domain,
    memory,
    model,
    metric,
    variant,
    slice,
    value,
    low,
    high,
    n,
    n_episodes AS episodes,
    coverage,
    scripted,
    reason
FROM score.leaderboard
WHERE
    slice = coalesce($slice, 'all')
    AND ($domain IS NULL OR domain = $domain)
    AND ($memory IS NULL OR memory = $memory)
    AND ($model IS NULL OR model = $model)
    AND ($metric IS NULL OR metric = $metric)
    AND ($variant IS NULL OR variant = $variant)
ORDER BY domain ASC, metric ASC, variant ASC, value DESC NULLS LAST, memory ASC, model ASC
