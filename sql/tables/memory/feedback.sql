-- Grain: One row per answer of a feedback dialogue with an assistant, and the user's reaction.
-- Key: domain, assistant, checkpoint, case_id, round.
-- Partition: domain, assistant.
CREATE TABLE IF NOT EXISTS memory.feedback (
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
    assistant VARCHAR NOT NULL,
    checkpoint BIGINT NOT NULL,
    PRIMARY KEY (domain, assistant, checkpoint, case_id, round)
);
