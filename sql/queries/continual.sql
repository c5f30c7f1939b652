-- Sums over question histories: one row per assistant, episode, measure and checkpoint of a domain,
-- with the numbers of questions and of complete histories, and of these the sum, sum of squares, minimum and maximum.
-- Measures over all checkpoints are in the row of the assistant's last one. Decimal sums do not depend on the order
-- of rows.
-- Parameters: $domain.
-- `answers` has one row per assistant, question and checkpoint, of the questions that are asked at several checkpoints.
-- How the answers to a question change (CoMem, section 3.3; answers graded from 0 to 1: memflow/metrics/continual.py).
-- `value`: what the answer at this checkpoint is worth under the probe's own metric, as a share of that metric's range.
-- `guess`: what guessing gets, with which the history begins: the answer to the probe that `opens` it, and where none
--     does (`borrowed`), that of the memory `none` under the same chat model at the first checkpoint.
-- `best_before`: the most that an answer before this one was worth, the guess among them.
-- `forgotten`, `learnt`: what the answer lacks of `best_before`, and what it adds to it.
-- `to_come`: what the answer at the last checkpoint is worth more.
-- `all_correct`, `all_wrong`, `flip_rate`: up to this checkpoint, without the guess: the worst answer, what the best
--     one lacks, and by how much it changed in a step from one checkpoint to the next.
-- `sound`: no probe of the question is quarantined. `complete`: there is a value at every checkpoint of the domain, and
--     a guess. Where it is not complete, nothing is told but `value` and `guess`.
WITH asked AS (
    SELECT
        domain,
        question_id,
        min(checkpoint) AS first_checkpoint,
        bool_or(opens) AS has_opening,
        bool_and(reason IS NULL) AS sound
    FROM question.probes
    WHERE question_id IS NOT NULL AND split = 'test'
    GROUP BY domain, question_id
),

spans AS (
    SELECT
        domain,
        count(DISTINCT checkpoint) AS checkpoints
    FROM question.probes
    WHERE question_id IS NOT NULL AND split = 'test'
    GROUP BY domain
),

valued AS (
    SELECT
        verdicts.domain,
        verdicts.assistant,
        probes.metric,
        probes.question_id,
        probes.episode_id,
        probes.checkpoint,
        probes.opens,
        CASE
            WHEN metrics.metric IS NULL THEN verdicts.value
            ELSE (verdicts.value - metrics.low) / (metrics.high - metrics.low)
        END AS value
    FROM score.verdicts AS verdicts
    INNER JOIN question.probes AS probes
        ON
            verdicts.domain = probes.domain
            AND verdicts.probe_id = probes.probe_id
            AND verdicts.metric = probes.metric
    LEFT JOIN score.metrics AS metrics ON split_part(verdicts.metric, '[', 1) = metrics.metric
    WHERE probes.question_id IS NOT NULL AND probes.split = 'test' AND verdicts.variant = 'standard'
),

guesses AS (
    SELECT
        valued.domain,
        valued.assistant,
        valued.question_id,
        valued.value
    FROM valued
    INNER JOIN asked
        ON
            valued.domain = asked.domain
            AND valued.question_id = asked.question_id
            AND valued.checkpoint = asked.first_checkpoint
    WHERE valued.opens OR (NOT asked.has_opening AND regexp_matches(valued.assistant, '^none([@~]|$)'))
),

begun AS (
    SELECT
        valued.*,
        asked.sound,
        guesses.value AS guess,
        NOT asked.has_opening AS borrowed,
        guesses.value IS NOT NULL AND count(valued.value) OVER question = spans.checkpoints AS complete
    FROM valued
    INNER JOIN asked ON valued.domain = asked.domain AND valued.question_id = asked.question_id
    INNER JOIN spans ON valued.domain = spans.domain
    LEFT JOIN guesses
        ON
            valued.domain = guesses.domain
            AND valued.question_id = guesses.question_id
            AND guesses.assistant
            = CASE
                WHEN asked.has_opening THEN valued.assistant
                ELSE regexp_replace(valued.assistant, '^[^@~]*', 'none')
            END
    WINDOW question AS (PARTITION BY valued.domain, valued.assistant, valued.question_id)
),

stepped AS (
    SELECT
        *,
        CASE
            WHEN opens THEN value
            ELSE greatest(guess, max(value) OVER (so_far ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING))
        END AS best_before,
        last_value(value) OVER (so_far ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS last_value,
        -- The guess is no step: an answer wavers from the first checkpoint on at which something was told.
        CASE WHEN NOT opens AND NOT lag(opens) OVER so_far THEN abs(value - lag(value) OVER so_far) END AS changed
    FROM begun
    WINDOW so_far AS (PARTITION BY domain, assistant, question_id ORDER BY checkpoint)
),

answers AS (
    SELECT
        domain,
        assistant,
        metric,
        question_id,
        episode_id,
        checkpoint,
        opens,
        borrowed,
        sound,
        complete,
        value,
        guess,
        CASE WHEN complete THEN best_before END AS best_before,
        CASE WHEN complete THEN greatest(0, best_before - value) END AS forgotten,
        CASE WHEN complete THEN greatest(0, value - best_before) END AS learnt,
        CASE WHEN complete THEN last_value - value END AS to_come,
        CASE WHEN complete AND NOT opens THEN min(value) FILTER (WHERE NOT opens) OVER so_far END AS all_correct,
        CASE WHEN complete AND NOT opens THEN 1 - max(value) FILTER (WHERE NOT opens) OVER so_far END AS all_wrong,
        CASE WHEN complete THEN avg(changed) OVER so_far END AS flip_rate
    FROM stepped
    WINDOW so_far AS (PARTITION BY domain, assistant, question_id ORDER BY checkpoint)
),

histories AS (
    SELECT
        *,
        checkpoint = max(checkpoint) OVER (PARTITION BY assistant) AS at_last
    FROM answers
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
