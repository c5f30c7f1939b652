"""Where contexts come from: a module for each form of file, with `read` (a file's records) and `contexts` (of records).

dialogues.py     a user's own, in the form that docs/comem.md tells
dialsim/         scripts of television shows, with DialSim's questions or by rule
"""
