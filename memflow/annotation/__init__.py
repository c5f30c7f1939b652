"""Annotation: what a benchmark wants judged by people, the page that they judge on, and how far they agree.

sheet.py         the items of one sample, their file and its digest; their key, where the right label is kept apart
kinds.py         which kinds of items each benchmark has
page.py          a sheet as one HTML file that works from disk (page.html, page.css, page.js)
annotations.py   what an annotator's file says, held against its sheet
report.py        mean, agreement and AC1 of a sheet
judge.py         a chat model as one more annotator

What the items are is the benchmark's own (memflow/benchmarks/*/annotation.py).
"""
