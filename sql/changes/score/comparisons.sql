-- Replace the rows that are not in the temporary table lake_rows, which has all rows of the comparisons.
-- Parameters: none.
DELETE FROM score.comparisons
WHERE (domain, metric, variant, slice, a, b) IN (
    SELECT (domain, metric, variant, slice, a, b)
    FROM (
        FROM score.comparisons
        EXCEPT
        FROM lake_rows
    ) AS outdated
);

INSERT INTO score.comparisons
FROM lake_rows
EXCEPT ALL
FROM score.comparisons
