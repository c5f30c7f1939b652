"""Curation: what is right at each checkpoint, who says so, and which questions are kept (paper, section 3.2).

keys.py     keys by rule and as published; which of several hands' keys is the last word
"""
