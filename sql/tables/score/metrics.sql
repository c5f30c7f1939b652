-- Grain: One row per metric of the catalog (memflow/scoring/catalog.py).
-- Key: metric.
-- Partition: none: it is whole.
-- `direction` is higher, lower or neither: which value is better. `low` and `high` are null where the range has no end.
CREATE TABLE IF NOT EXISTS score.metrics (
    metric VARCHAR NOT NULL,
    title VARCHAR NOT NULL,
    direction VARCHAR NOT NULL,
    low DOUBLE,
    high DOUBLE,
    unit VARCHAR NOT NULL,
    primary_for VARCHAR[] NOT NULL,
    description VARCHAR NOT NULL,
    source VARCHAR NOT NULL,
    PRIMARY KEY (metric)
);
