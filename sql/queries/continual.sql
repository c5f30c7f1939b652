-- Sums over question histories (score.histories): one row per assistant, episode, measure and checkpoint of a domain,
-- with the numbers of questions and of complete histories, and of these the sum, sum of squares, minimum and maximum.
-- Measures over all checkpoints are in the row of the assistant's last one. Decimal sums do not depend on the order
-- of rows.
-- Parameters: $domain.
WITH histories AS (
    SELECT
        *,
        checkpoint = max(checkpoint) OVER (PARTITION BY assistant) AS at_last
    FROM score.histories
    WHERE domain = $domain AND sound
),

measures AS (
    SELECT unnest([
        'accuracy', 'guess', 'forgetting', 'forward_transfer', 'backward_transfer',
        'all_correct', 'all_wrong', 'flip_rate'
    ]) AS measure
),

marks AS (
    SELECT
        histories.assistant,
        histories.episode_id,
        measures.measure,
        histories.checkpoint,
        histories.borrowed,
        histories.complete,
        CASE
            WHEN NOT histories.complete THEN NULL
            WHEN measures.measure = 'accuracy' THEN histories.value
            WHEN measures.measure = 'guess' THEN histories.guess
            WHEN measures.measure = 'forgetting' THEN histories.forgotten
            WHEN measures.measure = 'forward_transfer' THEN histories.learnt
            WHEN measures.measure = 'backward_transfer' THEN histories.to_come
            WHEN measures.measure = 'all_correct' THEN histories.all_correct
            WHEN measures.measure = 'all_wrong' THEN histories.all_wrong
            WHEN measures.measure = 'flip_rate' THEN histories.flip_rate
        END AS mark
    FROM histories
    CROSS JOIN measures
    WHERE
        CASE
            WHEN measures.measure = 'accuracy' THEN TRUE
            WHEN measures.measure IN ('forgetting', 'forward_transfer', 'backward_transfer')
                THEN NOT histories.opens
            ELSE histories.at_last
        END
)

SELECT
    assistant,
    episode_id,
    measure,
    checkpoint,
    bool_or(borrowed) AS borrowed,
    count(*) AS questions,
    count(*) FILTER (WHERE complete) AS complete,
    coalesce(sum(mark::DECIMAL(38, 15)), 0)::DOUBLE AS total,
    coalesce(sum((mark * mark)::DECIMAL(38, 15)), 0)::DOUBLE AS squares,
    min(mark) AS low,
    max(mark) AS high
FROM marks
GROUP BY assistant, episode_id, measure, checkpoint
ORDER BY assistant, episode_id, measure, checkpoint
