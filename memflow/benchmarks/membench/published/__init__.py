"""Readers of published MemBench and MemDaily files. `load.py` selects the reader of a file."""
