-- Grain: One row per user, period and state variable that gets a value in the period; period 0 sets every variable.
-- Key: domain, user_id, period, variable.
-- Partition: domain.
CREATE TABLE IF NOT EXISTS state.changes (
    domain VARCHAR NOT NULL,
    user_id VARCHAR NOT NULL,
    period BIGINT NOT NULL,
    period_end VARCHAR NOT NULL,
    variable VARCHAR NOT NULL,
    old VARCHAR,
    value VARCHAR NOT NULL,
    event VARCHAR,
    summary VARCHAR,
    PRIMARY KEY (domain, user_id, period, variable)
);
