-- Delete the rows of partitions that changed or are gone.
-- Parameters: $gone, partitions as `domain/assistant`.
DELETE FROM score.health
WHERE concat_ws('/', domain, assistant) IN (SELECT unnest($gone))
