-- Grain: One row per training case and round of the dialogue between backbone and simulated user.
-- Key: domain, case_id, round.
-- Partition: domain.
CREATE TABLE IF NOT EXISTS feedback.sessions (
    domain VARCHAR NOT NULL,
    dataset VARCHAR NOT NULL,
    case_id VARCHAR NOT NULL,
    episode_id VARCHAR NOT NULL,
    round BIGINT NOT NULL,
    user_text VARCHAR NOT NULL,
    answer VARCHAR NOT NULL,
    score DOUBLE,
    satisfaction BIGINT,
    felt BIGINT,
    liked BOOLEAN NOT NULL,
    disliked BOOLEAN NOT NULL,
    copied BOOLEAN NOT NULL,
    critique VARCHAR,
    ended BOOLEAN NOT NULL,
    completion VARCHAR,
    cut BOOLEAN NOT NULL,
    reason VARCHAR,
    PRIMARY KEY (domain, case_id, round)
);
