-- Grain: One row per domain, assistant, metric, variant and slice.
-- Key: domain, assistant, metric, variant, slice.
-- Partition: none.
CREATE TABLE IF NOT EXISTS score.leaderboard (
    domain VARCHAR NOT NULL,
    assistant VARCHAR NOT NULL,
    memory VARCHAR NOT NULL,
    model VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    variant VARCHAR NOT NULL,
    slice VARCHAR NOT NULL,
    value DOUBLE,
    low DOUBLE,
    high DOUBLE,
    deviation DOUBLE,
    n BIGINT NOT NULL,
    planned BIGINT,
    n_episodes BIGINT NOT NULL,
    coverage DOUBLE NOT NULL,
    simulator VARCHAR NOT NULL,
    scripted BOOLEAN NOT NULL,
    fingerprint VARCHAR,
    prompts VARCHAR[] NOT NULL,
    replaced_prompts VARCHAR[] NOT NULL,
    embedder VARCHAR,
    k BIGINT,
    budget BIGINT,
    injected_tokens DOUBLE,
    imported VARCHAR,
    differing_settings VARCHAR,
    incomplete VARCHAR,
    reason VARCHAR,
    PRIMARY KEY (domain, assistant, metric, variant, slice)
);
