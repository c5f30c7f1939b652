"""MemoryBench's task provider (paper, section 2.2, A.1): the published data sets as cases (q, v) with corpora (c).

    task.py         what a task, a case, a corpus and a pool are
    catalogue.py    the tasks: domain, format, metrics, sampling of each
    file.py         a published file as readers take it, and how it is refused
    registry.py     which reader reads which data set
    locomo.py ...   a reader each: a published file -> records -> pools of cases
    unified.py      the reader of MemoryBench's own form of them all; its rows are row.py's, and cases by unwrapped.py

Which cases a domain takes is selection.py's, how they are asked questions.py's.
"""
