"""Where contexts come from: a module for each form of file, with `read` (a file's records) and `contexts` (of records).

dialogues.py     a user's own, in the form that docs/comem.md tells
personamem.py    PersonaMem v1: a table of questions and the contexts that they share
"""
