-- Grain: One row per two assistants of a domain, metric, variant and slice: their paired difference a - b.
-- Key: domain, metric, variant, slice, a, b.
-- Partition: none.
CREATE TABLE IF NOT EXISTS score.comparisons (
    domain VARCHAR NOT NULL,
    metric VARCHAR NOT NULL,
    variant VARCHAR NOT NULL,
    slice VARCHAR NOT NULL,
    a VARCHAR NOT NULL,
    b VARCHAR NOT NULL,
    value_a DOUBLE,
    value_b DOUBLE,
    difference DOUBLE,
    low DOUBLE,
    high DOUBLE,
    p DOUBLE,
    p_adjusted DOUBLE,
    family BIGINT,
    n BIGINT NOT NULL,
    n_episodes BIGINT NOT NULL,
    unpaired_a BIGINT NOT NULL,
    unpaired_b BIGINT NOT NULL,
    episodes_needed BIGINT,
    episodes_needed_low BIGINT,
    episodes_needed_high BIGINT,
    better VARCHAR,
    health_a VARCHAR,
    health_b VARCHAR,
    noise DOUBLE,
    within_noise BOOLEAN,
    scripted BOOLEAN NOT NULL,
    reason VARCHAR,
    PRIMARY KEY (domain, metric, variant, slice, a, b)
);
