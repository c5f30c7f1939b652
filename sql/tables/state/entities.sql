-- Grain: One row per person, event, item or place in a user's life, and one for the user (MemBench's relation graph).
-- Key: domain, user_id, entity_id.
-- Partition: domain.
CREATE TABLE IF NOT EXISTS state.entities (
    domain VARCHAR NOT NULL,
    user_id VARCHAR NOT NULL,
    entity_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    relationship VARCHAR NOT NULL,
    attributes VARCHAR NOT NULL,
    synthetic VARCHAR[] NOT NULL,
    reason VARCHAR,
    PRIMARY KEY (domain, user_id, entity_id)
);
