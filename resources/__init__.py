"""The outside world, one capability a file.

Heavy imports stand inside methods. No partition and no asset key is known here.
"""
