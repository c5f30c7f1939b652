"""Readers of the data sets from which CoMem's contexts are built: one module per file format.

Each module has `read`, which returns the records of a file, and `contexts`, which converts records to contexts.

    dialogues.py   users' own dialogues, in the format of docs/explanation/comem.md
    friendsqa/     FriendsQA: scenes with many speakers, and questions about each
    personamem.py  PersonaMem v1: a table of questions and their shared contexts
    dialsim/       scripts of television shows, with DialSim's questions or questions by rule
"""
