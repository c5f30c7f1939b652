"""Human annotation: samples of items to label, the labeling page, and agreement between annotators.

sheet.py         a sample of items (the sheet) and its key with the correct labels
kind.py          a kind of items, which benchmarks declare
page/            a sheet as one offline HTML file
annotations.py   an annotator's file, validated against its sheet
report.py        mean, agreement and AC1 of a sheet
"""
