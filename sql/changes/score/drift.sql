-- Replace the rows that are not in the temporary table lake_rows, which has all rows of the drift.
-- Parameters: none.
DELETE FROM score.drift
WHERE (published_at, domain, assistant, metric, variant, slice) IN (
    SELECT (published_at, domain, assistant, metric, variant, slice)
    FROM (
        FROM score.drift
        EXCEPT
        FROM lake_rows
    ) AS outdated
);

INSERT INTO score.drift
FROM lake_rows
EXCEPT ALL
FROM score.drift
