"""Trajectories made from users' lives: lives -> plans -> sessions and questions (paper, section 3.1).

lives/           a user and the people, events, items and places of their life
plans.py         what a trajectory is to tell, and what it is asked: types alone
planning.py      which plans a domain has; tasks.py, what each is drawn up from
factual.py       plans that ask for what was told; computing.py and processing.py, for what is computed from it
facts.py         what such plans tell, and in which sessions; sentences.py, in which words
recommending.py  plans that ask for what was recommended; preferring.py, for preferences; emotions.py, for moods
likings.py       what they draw from; sayings.py, in which words
layout.py        in what order a plan is told; clock.py, when
sessions.py      a plan worded by the simulator
questions.py     its question worded, and its options
scripted.py      handlers of the scripted chat
"""
