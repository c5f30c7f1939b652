"""Gold labels per checkpoint, and the selection of questions (paper, section 3.2).

rounds.py      labels by two annotator models; a question is kept if they agree
labels.py      labels by rule or as published; the final label of each checkpoint
label_file.py  the file format of labels
imported.py    labels imported from a label file
summary.py     counts of kept and dropped questions, agreeing annotators, and label changes
"""
