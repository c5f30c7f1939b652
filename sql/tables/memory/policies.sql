-- Grain: One row per step of the evolution of a memory's policy in an episode; the first is the initial policy.
-- Key: domain, assistant, episode_id, step.
-- Partition: domain, assistant.
CREATE TABLE IF NOT EXISTS memory.policies (
    domain VARCHAR NOT NULL,
    assistant VARCHAR NOT NULL,
    episode_id VARCHAR NOT NULL,
    step BIGINT NOT NULL,
    cadence VARCHAR NOT NULL,
    cycle BIGINT NOT NULL,
    checkpoint BIGINT,
    feedback VARCHAR NOT NULL,
    kinds VARCHAR[] NOT NULL,
    changes VARCHAR[] NOT NULL,
    asked BIGINT NOT NULL,
    answered BIGINT NOT NULL,
    correct BIGINT NOT NULL,
    since BIGINT NOT NULL,
    completion VARCHAR,
    reason VARCHAR,
    PRIMARY KEY (domain, assistant, episode_id, step)
);
