-- Grain: One row per message of a played episode.
-- Key: domain, assistant, episode_id, message_id.
-- Partition: domain, assistant.
CREATE TABLE IF NOT EXISTS memory.transcripts (
    domain VARCHAR NOT NULL,
    assistant VARCHAR NOT NULL,
    episode_id VARCHAR NOT NULL,
    checkpoint BIGINT NOT NULL,
    event BIGINT NOT NULL,
    position BIGINT NOT NULL,
    message_id VARCHAR NOT NULL,
    role VARCHAR NOT NULL,
    speaker VARCHAR,
    text VARCHAR NOT NULL,
    sent_at VARCHAR,
    sequence BIGINT NOT NULL,
    origin VARCHAR NOT NULL,
    completion VARCHAR,
    cut BOOLEAN NOT NULL,
    reason VARCHAR,
    models_s DOUBLE,
    own_s DOUBLE,
    model_calls BIGINT,
    PRIMARY KEY (domain, assistant, episode_id, message_id)
);
