"""The lake: one Parquet file per table and partition, its kept versions, and the storages that its files can be in.

lake.py reads and writes partitions. storage/ stores the files. What is computed from the lake is in publishing/.
"""
