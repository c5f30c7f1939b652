-- Grain: One row per metric whose values do not lie between 0 and 1: its least and its greatest value.
-- A value becomes a share of its range by (value - low) / (high - low); where the range has no end it has no share.
CREATE OR REPLACE VIEW score.ranges AS
SELECT
    ranges.metric,
    ranges.low,
    ranges.high
FROM
    (
        VALUES
        ('criteria', 1, 10),
        ('integrated', 1, 10),
        ('llm_rating', 1, 10),
        ('quality', 1, 5),
        ('rating', 0, 5),
        ('bertscore', -1, 1),
        ('reasoning_bertscore', -1, 1),
        ('judgment_bertscore', -1, 1),
        ('capacity', 0, 'infinity'::DOUBLE),
        ('cli', '-infinity'::DOUBLE, 'infinity'::DOUBLE),
        ('fkgl', '-infinity'::DOUBLE, 'infinity'::DOUBLE),
        ('dcrs', '-infinity'::DOUBLE, 'infinity'::DOUBLE)
    ) AS ranges (metric, low, high);
