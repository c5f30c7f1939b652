"""Local files and disks: atomic replacement, caches and hashes of contents, full disks, special paths."""
