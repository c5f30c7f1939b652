"""Gold labels per checkpoint, and the selection of questions (paper, section 3.2).

rounds.py      labels by two annotator models; a question is kept if they agree
labels.py      labels by rule or as published; the choice of the final label
label_file.py  the file format of labels
imported.py    labels imported from such a file
summary.py     counts: kept, dropped, agreement, changes over checkpoints
"""
