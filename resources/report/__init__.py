"""The report: a folder of static files that shows the results of a lake in a browser, without a server or a network.

export.py writes a report. Each data file has a module that computes it: site.py, scores.py, verdicts.py, domain.py,
results.py, costs.py and runs.py. names.py, payload.py, folder.py and page.py define the form of the files, and app/
contains the front end. Statistics do not belong here: the report contains the values that the lake has.
"""
