-- Grain: One row per fact that was new at a checkpoint and judge, and whether the memory contained it then.
-- Key: domain, assistant, claim_id, variant.
-- Partition: domain, assistant.
CREATE TABLE IF NOT EXISTS score.claims (
    domain VARCHAR NOT NULL,
    assistant VARCHAR NOT NULL,
    claim_id VARCHAR NOT NULL,
    episode_id VARCHAR NOT NULL,
    checkpoint BIGINT NOT NULL,
    variant VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    value DOUBLE,
    held_tokens BIGINT,
    completion VARCHAR,
    model VARCHAR,
    reason VARCHAR,
    PRIMARY KEY (domain, assistant, claim_id, variant)
);
