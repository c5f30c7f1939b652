"""Curation: what is right at each checkpoint, who says so, and which questions are kept (paper, section 3.2).

annotation.py  keys by two models, the second told what the first found; kept where they agree
keys.py        keys by rule and as published; which of several hands' keys is the last word; what is left out
key_file.py    keys as a file: what it holds, and the keys of a domain written as one
imported.py    keys made elsewhere, from such a file
survey.py      what that came to: kept, dropped, agreed; how keys change over checkpoints
"""
