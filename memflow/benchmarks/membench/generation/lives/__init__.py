"""Users' lives: a relation graph of a user and the people, events, items and places about them (paper, section 3.1).

graphs.py         a life, its rows and back
sampling.py       how one is drawn, by seed
vocabulary.py     the words that it is drawn from; personal.py: what would be personal data, invented
preferences.py    what people like, and of which category it is
rated.py, ratings.py, streams.py   the same, counted from published ratings
sources.py        the data sets of both
told.py           values as they are told, and read back
states.py         the lives of a domain
"""
