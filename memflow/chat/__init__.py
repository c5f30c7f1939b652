"""Requests to chat models: prompts.py, requests.py, bounds.py, asking.py, ledger.py and the scripted chats.

Network clients are in resources/; prompt files are in the folders of the benchmarks and memories.
"""
