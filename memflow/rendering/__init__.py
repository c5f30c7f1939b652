"""Results as text for people, which the command line and the Python API show: tables, notes and progress.

tables.py     tables, fitted to the terminal or as CSV, Markdown or LaTeX
texts.py      headings, notes, intervals, durations
scores.py     the primary scores of a domain as a table, with its notes
evidence.py   failures by evidence, and what qualifies scores
retrieval.py  retrieval that was measured without a chat model
progress.py   the progress of a run
"""
