"""Charts of leaderboard scores by period: curves with intervals, and stacked failure rates.

shapes.py   the content of a chart as plain data: curves, stacked bars
charts.py   charts of leaderboard scores
drawing.py  drawing of charts as SVG or PNG, with matplotlib (the extra `plots`)
"""
