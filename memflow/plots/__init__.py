"""Pictures of what the leaderboard holds by period: curves with their intervals, and failure rates stacked.

charts.py   figures to charts: plain data, from which anything could draw
drawing.py  a chart to SVG or PNG, with matplotlib (the extra `plots`)
"""
