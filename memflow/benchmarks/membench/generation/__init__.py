"""Trajectories made from users' lives: graphs -> plans -> sessions and questions (paper, section 3.1).

graphs.py        a user and the people, events, items and places of their life; as rows and back
sampling.py      lives drawn by seed, from the words of vocabulary.py and the likes of preferences.py
told.py          numbers and times as they are told, and read again
ratings.py       what people like, counted from ratings; rated.py, the forms of published ones; streams.py, big files
sources.py       words, likes and ratings as raw records; lives.py, from them the state tables of a domain
personal.py      invented numbers and documents, of ranges that nobody is given
graph_expectations.py   what must hold of lives that were drawn
plans.py         what a trajectory is to tell, and what it is asked: types alone
planning.py      which plans a domain has
factual.py       plans that ask for what was told; computing.py, for what is computed from it
facts.py         what such plans tell, and in which sessions; sentences.py, in which words
recommending.py  plans that ask for what was recommended; preferring.py, for preferences; emotions.py, for moods
likings.py       what they draw from; sayings.py, in which words
layout.py        in what order a plan is told; clock.py, when
sessions.py      a plan worded by the simulator
questions.py     its question worded, and its options
"""
