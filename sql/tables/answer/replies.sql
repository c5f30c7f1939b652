-- Grain: One row per probe asked of an assistant.
-- Key: domain, assistant, probe_id.
-- Partition: domain, assistant.
CREATE TABLE IF NOT EXISTS answer.replies (
    domain VARCHAR NOT NULL,
    assistant VARCHAR NOT NULL,
    probe_id VARCHAR NOT NULL,
    episode_id VARCHAR NOT NULL,
    checkpoint BIGINT NOT NULL,
    text VARCHAR,
    parsed VARCHAR,
    recalled VARCHAR[] NOT NULL,
    recalled_sources VARCHAR[] NOT NULL,
    injected_tokens BIGINT NOT NULL,
    dropped_tokens BIGINT NOT NULL,
    dropped_messages BIGINT NOT NULL,
    prompt_tokens BIGINT,
    completion_tokens BIGINT,
    latency_s DOUBLE,
    completion VARCHAR,
    cut BOOLEAN NOT NULL,
    attempts BIGINT NOT NULL,
    prompt VARCHAR,
    model VARCHAR,
    reason VARCHAR,
    models_s DOUBLE,
    own_s DOUBLE,
    model_calls BIGINT,
    ranked VARCHAR[] NOT NULL,
    recall_failures VARCHAR[] NOT NULL,
    PRIMARY KEY (domain, assistant, probe_id)
);
