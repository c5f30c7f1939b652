-- Grain: One row per entry that a memory has ever stored.
-- Key: domain, assistant, episode_id, entry_id.
-- Partition: domain, assistant.
CREATE TABLE IF NOT EXISTS memory.indexes (
    domain VARCHAR NOT NULL,
    assistant VARCHAR NOT NULL,
    episode_id VARCHAR NOT NULL,
    entry_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    text VARCHAR NOT NULL,
    sources VARCHAR[] NOT NULL,
    since BIGINT NOT NULL,
    until BIGINT,
    role VARCHAR,
    vector DOUBLE[],
    meta VARCHAR NOT NULL,
    previous VARCHAR,
    PRIMARY KEY (domain, assistant, episode_id, entry_id)
);
