-- Grain: One row per measure of what an assistant's memory did with what it was given.
-- Key: domain, assistant, measure.
-- Partition: domain, assistant.
CREATE TABLE IF NOT EXISTS score.health (
    domain VARCHAR NOT NULL,
    assistant VARCHAR NOT NULL,
    measure VARCHAR NOT NULL,
    state VARCHAR NOT NULL,
    value DOUBLE,
    n BIGINT NOT NULL,
    affected BIGINT NOT NULL,
    statement VARCHAR NOT NULL,
    examples VARCHAR[] NOT NULL,
    percentiles_s DOUBLE[] NOT NULL,
    reason VARCHAR,
    PRIMARY KEY (domain, assistant, measure)
);
