-- Grain: One row per question asked at a checkpoint.
-- Key: domain, probe_id.
-- Partition: domain.
CREATE TABLE IF NOT EXISTS question.probes (
    domain VARCHAR NOT NULL,
    probe_id VARCHAR NOT NULL,
    episode_id VARCHAR NOT NULL,
    checkpoint BIGINT NOT NULL,
    kind VARCHAR NOT NULL,
    split VARCHAR NOT NULL,
    dataset VARCHAR NOT NULL,
    category VARCHAR,
    language VARCHAR NOT NULL,
    asked_at VARCHAR,
    metric VARCHAR NOT NULL,
    question VARCHAR NOT NULL,
    options VARCHAR[] NOT NULL,
    variables VARCHAR[] NOT NULL,
    gold VARCHAR NOT NULL,
    revealed VARCHAR NOT NULL,
    previous VARCHAR,
    evidence VARCHAR[] NOT NULL,
    variants VARCHAR[] NOT NULL,
    parent VARCHAR,
    question_id VARCHAR,
    opens BOOLEAN NOT NULL,
    after VARCHAR,
    true_of VARCHAR[] NOT NULL,
    said_tokens BIGINT,
    since_tokens BIGINT,
    slices VARCHAR[] NOT NULL,
    reason VARCHAR,
    PRIMARY KEY (domain, probe_id)
);
