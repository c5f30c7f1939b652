-- Grain: One row per domain, assistant, metric and checkpoint, of the questions that are asked at several checkpoints.
-- What their histories (score.histories) come to: means over the `n` of `questions` that are complete, null where none
-- is. `guess` is the accuracy with which they begin: at every checkpoint, accuracy is guess + the forward transfer up
-- to it - forgetting. `all_correct`, `all_wrong` and `flip_rate` are of the checkpoints up to this one: CoMem's own are
-- those of the last.
CREATE OR REPLACE VIEW score.continual AS
SELECT
    domain,
    assistant,
    metric,
    checkpoint,
    count(*) FILTER (WHERE sound) AS questions,
    count(*) FILTER (WHERE complete) AS n,
    avg(guess) FILTER (WHERE complete) AS guess,
    avg(value) FILTER (WHERE complete) AS accuracy,
    avg(forgotten) AS forgetting,
    avg(learnt) AS forward_transfer,
    avg(to_come) AS backward_transfer,
    avg(all_correct) AS all_correct,
    avg(all_wrong) AS all_wrong,
    avg(flip_rate) AS flip_rate
FROM score.histories
GROUP BY domain, assistant, metric, checkpoint;
