-- Replace the rows that are not in the temporary table lake_rows, which has all rows of the leaderboard.
-- Parameters: none.
DELETE FROM score.leaderboard
WHERE (domain, assistant, metric, variant, slice) IN (
    SELECT (domain, assistant, metric, variant, slice)
    FROM (
        FROM score.leaderboard
        EXCEPT
        FROM lake_rows
    ) AS outdated
);

INSERT INTO score.leaderboard
FROM lake_rows
EXCEPT ALL
FROM score.leaderboard
