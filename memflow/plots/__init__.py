"""Pictures of what the leaderboard holds by period: curves with their intervals, and failure rates stacked.

shapes.py   what a picture shows: curves, stacked bars, columns, as plain data, from which anything could draw
charts.py   the leaderboard's scores to them; what one benchmark alone draws lies in its folder (plots.py)
drawing.py  to SVG or PNG, with matplotlib (the extra `plots`)
"""
