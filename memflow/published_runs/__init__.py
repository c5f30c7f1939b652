"""Published runs: answers, labels and retrieval logs of memory systems that others committed publicly.

`forms.declared_runs()` lists the runs that runs.yaml declares, and `collection.read_run(folder, run)` reads one from
the user's downloads. rows.py has the row types, forms.yaml the forms of files, forms.py their paths, reader.py the
reader, layouts.py the positions of questions, recognition.py files without a declaration, and matching.py the
comparison with a benchmark's questions.

collection.py reads the declared runs of a folder, rescoring.py scores a run; run_comparisons.py, run_attribution.py and
run_checks.py compare, attribute and check runs; report.py states what they show; page.py is the page of `memflow import
published`.
"""
