"""Requests to chat models: prompts.py, requests.py, request_bounds.py, asking.py, ledger.py and the scripted chats.

resources/ contains network clients; the folders of the benchmarks and memories contain prompt files.
"""
