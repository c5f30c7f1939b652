-- Grain: One row per question, checkpoint and source of the label (CoMem, section 3.2).
-- Key: domain, question_id, checkpoint, made_by.
-- Partition: domain.
CREATE TABLE IF NOT EXISTS question.keys (
    domain VARCHAR NOT NULL,
    question_id VARCHAR NOT NULL,
    episode_id VARCHAR NOT NULL,
    checkpoint BIGINT NOT NULL,
    made_by VARCHAR NOT NULL,
    visible BIGINT NOT NULL,
    answer VARCHAR,
    agrees BOOLEAN,
    why VARCHAR,
    dropped VARCHAR,
    completion VARCHAR,
    model VARCHAR,
    reason VARCHAR,
    PRIMARY KEY (domain, question_id, checkpoint, made_by)
);
