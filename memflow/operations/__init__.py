"""What the command line and the Python API do alike: select, check, plan, run, and read what is stored by name.

Nothing here reads the command line's arguments or prints a result. front.py has the settings and the lake of a caller.
"""
