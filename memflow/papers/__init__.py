"""The tables and figures of papers as data: which runs they need, and the published values beside which they stand.

schema.py declares the form of `paper.yaml`, files.py reads it with `paper.csv`, names.py checks its names, cells.py
computes the cells of a table.
"""
