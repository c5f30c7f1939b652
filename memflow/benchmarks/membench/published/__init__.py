"""What others have published: how each form is read, and what of it cannot be asked.

    release.py           MemBench's own files, of three forms
    memdaily.py          those of its parent MemDaily
    questions.py         the questions of both, and why one cannot be asked
    memdaily_graphs.py   the users' lives of MemDaily
    noise.py             the noise of MemBench

Which reader a file has is records.py's.
"""
