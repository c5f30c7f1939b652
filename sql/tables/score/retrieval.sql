-- Grain: One row per probe with evidence and ranking of the entries that an assistant's memory had stored by then.
-- Key: domain, assistant, probe_id, ranking.
-- Partition: domain, assistant.
CREATE TABLE IF NOT EXISTS score.retrieval (
    domain VARCHAR NOT NULL,
    assistant VARCHAR NOT NULL,
    probe_id VARCHAR NOT NULL,
    episode_id VARCHAR NOT NULL,
    checkpoint BIGINT NOT NULL,
    ranking VARCHAR NOT NULL,
    evidence BIGINT NOT NULL,
    stored BIGINT,
    entries BIGINT,
    k BIGINT,
    tokens BIGINT,
    recalled DOUBLE,
    ranks DOUBLE[] NOT NULL,
    read DOUBLE,
    avoided DOUBLE,
    reason VARCHAR,
    PRIMARY KEY (domain, assistant, probe_id, ranking)
);
