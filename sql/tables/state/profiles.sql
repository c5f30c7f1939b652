-- Grain: One row per user.
-- Key: domain, user_id.
-- Partition: domain.
CREATE TABLE IF NOT EXISTS state.profiles (
    domain VARCHAR NOT NULL,
    user_id VARCHAR NOT NULL,
    name VARCHAR NOT NULL,
    profile VARCHAR NOT NULL,
    start_date VARCHAR NOT NULL,
    reason VARCHAR,
    PRIMARY KEY (domain, user_id)
);
