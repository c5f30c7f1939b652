"""Where the lake's files are: a folder (local.py) or an object store (object_store.py), with the same methods."""
