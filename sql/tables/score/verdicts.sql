-- Grain: One row per reply, metric and variant.
-- Key: domain, assistant, probe_id, metric, variant.
-- Partition: domain, assistant.
CREATE TABLE IF NOT EXISTS score.verdicts (
    domain VARCHAR NOT NULL,
    assistant VARCHAR NOT NULL,
    probe_id VARCHAR NOT NULL,
    episode_id VARCHAR NOT NULL,
    checkpoint BIGINT NOT NULL,
    dataset VARCHAR NOT NULL,
    category VARCHAR,
    metric VARCHAR NOT NULL,
    variant VARCHAR NOT NULL,
    value DOUBLE,
    completion VARCHAR,
    reason VARCHAR,
    PRIMARY KEY (domain, assistant, probe_id, metric, variant)
);
