-- Evolution of memory policies: one row per assistant, episode and step, with the policy and the accuracy before it.
-- Parameters (null: all): $domain, $assistant.
SELECT
    domain,
    assistant,
    episode_id,
    step,
    cycle,
    checkpoint,
    feedback,
    since,
    reason,
    correct / nullif(answered, 0) AS accuracy_before,
    len(kinds) AS n_kinds,
    array_to_string(kinds, '; ') AS kinds,
    array_to_string(changes, '; ') AS changes
FROM memory.policies
WHERE
    ($domain IS NULL OR domain = $domain)
    AND ($assistant IS NULL OR assistant = $assistant)
ORDER BY domain ASC, assistant ASC, episode_id ASC, step ASC
