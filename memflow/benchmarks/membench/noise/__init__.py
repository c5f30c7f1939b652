"""Noise: what is said besides, to make a trajectory as long as a domain wants it (paper, section 4).

lengths.py     which noise a domain's trajectories are lengthened by
weaving.py     where it goes, between messages or sessions
grammar.py     noise of our own making, without end
conflicts.py   what noise must not say
"""
