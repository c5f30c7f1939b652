-- Grain: One row per record of a published file.
-- Key: dataset, record_id.
-- Partition: dataset.
CREATE TABLE IF NOT EXISTS raw.records (
    dataset VARCHAR NOT NULL,
    record_id VARCHAR NOT NULL,
    position BIGINT NOT NULL,
    source VARCHAR NOT NULL,
    sha256 VARCHAR NOT NULL,
    licence VARCHAR NOT NULL,
    origin VARCHAR NOT NULL,
    content VARCHAR NOT NULL,
    reason VARCHAR,
    PRIMARY KEY (dataset, record_id)
);
