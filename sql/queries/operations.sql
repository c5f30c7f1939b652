-- Time of writes and reads: one row per assistant and episode of a domain, with the number of measured writes (batches
-- of messages), of valid probes and of measured reads, and the sums of model seconds, own seconds and completions. The
-- texts are the assistant's answers to probes and its replies in dialogues; the token limit ended the cut ones.
-- Decimal sums do not depend on the order of rows.
-- Parameters: $domain.
WITH written AS (
    SELECT
        assistant,
        episode_id,
        count(models_s) AS writes,
        coalesce(sum(models_s::DECIMAL(38, 15)), 0)::DOUBLE AS write_models_s,
        coalesce(sum(own_s::DECIMAL(38, 15)), 0)::DOUBLE AS write_own_s,
        coalesce(sum(model_calls), 0)::BIGINT AS write_calls,
        count(*) FILTER (WHERE origin = 'assistant' AND reason IS NULL) AS texts,
        count(*) FILTER (WHERE origin = 'assistant' AND reason IS NULL AND cut) AS cut_texts
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
        coalesce(sum(replies.model_calls), 0)::BIGINT AS read_calls,
        count(replies.text) AS texts,
        count(*) FILTER (WHERE replies.cut) AS cut_texts
    FROM answer.replies AS replies
    INNER JOIN question.probes AS probes
        ON replies.domain = probes.domain AND replies.probe_id = probes.probe_id
    WHERE replies.domain = $domain AND probes.reason IS NULL AND probes.kind NOT IN ('written', 'stored')
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
    coalesce(asked.read_calls, 0) AS read_calls,
    coalesce(written.texts, 0) + coalesce(asked.texts, 0) AS texts,
    coalesce(written.cut_texts, 0) + coalesce(asked.cut_texts, 0) AS cut_texts
FROM written
FULL OUTER JOIN asked
    ON written.assistant = asked.assistant AND written.episode_id = asked.episode_id
ORDER BY assistant, episode_id
