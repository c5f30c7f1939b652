-- Grain: One row per scored probe of an assistant, with the share of its loss that each failure caused.
-- Key: domain, assistant, probe_id.
-- Partition: domain, assistant.
CREATE TABLE IF NOT EXISTS score.attributions (
    domain VARCHAR NOT NULL,
    assistant VARCHAR NOT NULL,
    probe_id VARCHAR NOT NULL,
    episode_id VARCHAR NOT NULL,
    checkpoint BIGINT NOT NULL,
    category VARCHAR,
    evidence BIGINT NOT NULL,
    stored BIGINT,
    recalled BIGINT,
    recalled_at_10 BIGINT,
    entries BIGINT,
    relevant BIGINT,
    loss DOUBLE,
    write DOUBLE,
    read DOUBLE,
    utilization DOUBLE,
    reason VARCHAR,
    PRIMARY KEY (domain, assistant, probe_id)
);
