CREATE TABLE IF NOT EXISTS cached (
    path TEXT PRIMARY KEY, mtime_ns INTEGER, size INTEGER, inode INTEGER, value TEXT
);

SELECT path, mtime_ns, size, inode, value FROM cached;

REPLACE INTO cached VALUES (?, ?, ?, ?, ?);
