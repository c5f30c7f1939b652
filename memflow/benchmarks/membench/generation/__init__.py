"""Trajectories made from users' lives: graphs -> plans -> sessions and questions (paper, section 3.1).

graphs.py        a user and the people, events, items and places of their life; as rows and back
sampling.py      lives drawn by seed, from the words of vocabulary.py and the likes of preferences.py
told.py          numbers and times as they are told, and read again
personal.py      invented numbers and documents, of ranges that nobody is given
lives.py         lives as plans are drawn from them
plans.py         what a trajectory is to tell, and what it is asked: types alone
planning.py      which plans a domain has
recommending.py, preferring.py, emotions.py: those of the kinds that ask for recommendations and for what is reflected
                 likings.py says what they draw from, sayings.py in what words
layout.py        in what order a plan is told; clock.py and relative.py, when
sessions.py      a plan worded by the simulator
questions.py     its question worded, and its options
"""
