-- Grain: One row per user and state variable.
-- Key: domain, user_id, variable.
-- Partition: domain.
CREATE TABLE IF NOT EXISTS state.variables (
    domain VARCHAR NOT NULL,
    user_id VARCHAR NOT NULL,
    variable VARCHAR NOT NULL,
    choices VARCHAR[] NOT NULL,
    questions VARCHAR[] NOT NULL,
    PRIMARY KEY (domain, user_id, variable)
);
