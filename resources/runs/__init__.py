"""Runs as processes: how they are started, which of them still live, and how interrupted ones continue."""
