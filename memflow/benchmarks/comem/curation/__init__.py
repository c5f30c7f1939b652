"""Curation: what is right at each checkpoint, who says so, and which questions are kept (paper, section 3.2).

keys.py        keys by rule and as published; which of several hands' keys is the last word
annotation.py  keys by two models, the second told what the first found; kept where they agree
survey.py      what that came to: kept, dropped, agreed; how keys change over checkpoints
"""
