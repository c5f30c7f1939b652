"""The lake: one Parquet file per table and partition, and its kept versions.

lake.py reads and writes partitions. storage.py stores the files. What is computed from the lake is in publishing/.
"""
