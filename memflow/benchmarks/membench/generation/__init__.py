"""Trajectories made from users' lives: graphs -> plans -> sessions and questions (paper, section 3.1).

graphs.py        a user and the people, events, items and places of their life, drawn by seed
lives.py         the same as plans are drawn from it
plans.py         what a trajectory is to tell, and what it is asked: types alone
planning.py      which plans a domain has
layout.py        in what order a plan is told; clock.py and relative.py, when
sessions.py      a plan worded by the simulator
questions.py     its question worded, and its options
"""
