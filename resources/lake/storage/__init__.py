"""Where the lake's files are: a folder, or an object store.

storage.py declares what a lake needs of either. local.py and object_store.py implement it.
"""
