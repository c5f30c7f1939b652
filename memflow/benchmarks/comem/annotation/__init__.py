"""Gold labels per checkpoint, and the selection of questions (paper, section 3.2).

rounds.py   labels by two annotator models; a question is kept if they agree
labels.py   labels by rule or as published; the final label of each checkpoint
"""
