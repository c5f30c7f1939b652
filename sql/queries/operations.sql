-- What did writing and reading take? One row per assistant and episode of a domain: how many writes were measured (a
-- write is what arrived together), for how many sound probes the memory was to be read and how many of these reads were
-- measured; the seconds of models, the memory's own seconds, and the completions of chat models, summed.
-- Sums are of decimals: they are the same in whatever order the rows are read.
-- Parameters: $domain.
WITH written AS (
    SELECT
        assistant,
        episode_id,
        count(models_s) AS writes,
        coalesce(sum(models_s::DECIMAL(38, 15)), 0)::DOUBLE AS write_models_s,
        coalesce(sum(own_s::DECIMAL(38, 15)), 0)::DOUBLE AS write_own_s,
        coalesce(sum(model_calls), 0)::BIGINT AS write_calls
    FROM memory.transcripts
    WHERE domain = $domain
    GROUP BY assistant, episode_id
),

asked AS (
    SELECT
        replies.assistant,
        replies.episode_id,
        count(*) AS asked,
        count(replies.models_s) AS reads,
        coalesce(sum(replies.models_s::DECIMAL(38, 15)), 0)::DOUBLE AS read_models_s,
        coalesce(sum(replies.own_s::DECIMAL(38, 15)), 0)::DOUBLE AS read_own_s,
        coalesce(sum(replies.model_calls), 0)::BIGINT AS read_calls
    FROM answer.replies AS replies
    INNER JOIN question.probes AS probes
        ON replies.domain = probes.domain AND replies.probe_id = probes.probe_id
    WHERE replies.domain = $domain AND probes.reason IS NULL
    GROUP BY replies.assistant, replies.episode_id
)

SELECT
    coalesce(written.assistant, asked.assistant) AS assistant,
    coalesce(written.episode_id, asked.episode_id) AS episode_id,
    coalesce(written.writes, 0) AS writes,
    coalesce(written.write_models_s, 0) AS write_models_s,
    coalesce(written.write_own_s, 0) AS write_own_s,
    coalesce(written.write_calls, 0) AS write_calls,
    coalesce(asked.asked, 0) AS asked,
    coalesce(asked.reads, 0) AS reads,
    coalesce(asked.read_models_s, 0) AS read_models_s,
    coalesce(asked.read_own_s, 0) AS read_own_s,
    coalesce(asked.read_calls, 0) AS read_calls
FROM written
FULL OUTER JOIN asked
    ON written.assistant = asked.assistant AND written.episode_id = asked.episode_id
ORDER BY assistant, episode_id
