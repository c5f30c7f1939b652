-- Replace the rows that are not in the temporary table lake_rows, which has all rows of the history.
-- Parameters: none.
DELETE FROM score.history
WHERE (publication, domain, assistant, metric, variant, slice) IN (
    SELECT (publication, domain, assistant, metric, variant, slice)
    FROM (
        FROM score.history
        EXCEPT
        FROM lake_rows
    ) AS outdated
);

INSERT INTO score.history
FROM lake_rows
EXCEPT ALL
FROM score.history
