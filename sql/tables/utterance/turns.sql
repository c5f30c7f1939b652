-- Grain: One row per message of an episode before it is played.
-- Key: domain, message_id.
-- Partition: domain.
CREATE TABLE IF NOT EXISTS utterance.turns (
    domain VARCHAR NOT NULL,
    episode_id VARCHAR NOT NULL,
    base VARCHAR,
    checkpoint BIGINT NOT NULL,
    event BIGINT NOT NULL,
    position BIGINT NOT NULL,
    message_id VARCHAR NOT NULL,
    kind VARCHAR NOT NULL,
    role VARCHAR NOT NULL,
    speaker VARCHAR,
    text VARCHAR NOT NULL,
    sent_at VARCHAR,
    follow_ups BIGINT NOT NULL,
    exposes VARCHAR,
    reason VARCHAR,
    PRIMARY KEY (domain, message_id)
);
