"""Trajectories made from users' lives: graphs -> plans -> sessions and questions (paper, section 3.1).

graphs.py        a user and the people, events, items and places of their life, drawn by seed
plans.py         what a trajectory is to tell, and what it is asked: types alone
...              which plans there are, how they are worded, and how they are asked
"""
