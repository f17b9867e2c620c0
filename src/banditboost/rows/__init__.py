"""Rows as users send them, and as compiled code reads them.

Where to look:

    columns.py    names and kinds of features, and where each stands in a coded row
    positions.py  rows without names
    value_places.py  which values have a place of their own, which share
    schema.py     a row becomes an array of numbers
    encoding.py   dict rows with the names of one before, coded fast
    sharing.py    values and words without a place of their own; who gets one
    distinct.py   about how many of them there were
    declaring.py  what a schema may be declared with
    features.py   the schema as compiled code reads it
    checking.py   whether the numbers of a row, or of a stored decision, are possible
    by_columns.py tables taken apart into columns, which become numbers many at a time
    plain.py      what one value is; a row as plain numbers and names
    many.py       many rows at once: matrices, lists, frames
    bags.py       rows of words of a table
    sparse.py     sparse matrices
"""
