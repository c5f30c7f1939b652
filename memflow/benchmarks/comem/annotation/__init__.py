"""Gold labels per checkpoint, and which questions are kept (paper, section 3.2).

rounds.py      labels by two annotator models; a question is kept where they agree
labels.py      labels by rule or as published; which label is final
label_file.py  the file format of labels
imported.py    labels imported from such a file
summary.py     counts: kept, dropped, agreement, changes over checkpoints
"""
