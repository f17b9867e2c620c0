"""What makes cells of Tables 1 and 2 differ from print: facts about the published program, put back one by one.

A fact is a small patch of the package, written from the list of facts alone. `python -m benchmarks.causes` plays
the paper's cells with it.
"""
