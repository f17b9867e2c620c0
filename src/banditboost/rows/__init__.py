"""Rows as users send them, and as compiled code reads them.

Where to look:

    schema.py     names and kinds of features; a row becomes an array of numbers
    features.py   the schema as compiled code reads it
    checking.py   whether the numbers of a row, or of a stored decision, are possible
    many.py       many rows at once: matrices, lists, frames
"""
