"""Where contexts come from: a module for each form of file, with `read` (a file's records) and `contexts` (of records).

dialogues.py     a user's own, in the form that docs/how-to/data.md describes
friendsqa/       FriendsQA: scenes of many speakers, with questions about each
amemgym.py       AMemGym's users: what is right follows from the states that they tell
keys.py          no dialogues, but keys that were made elsewhere
personamem.py    PersonaMem v1: a table of questions and the contexts that they share
dialsim/         scripts of television shows, with DialSim's questions or by rule
"""
