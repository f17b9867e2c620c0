"""Neighbours: River, scikit-learn, coba, and logs that Vowpal Wabbit and the Open Bandit Pipeline read.

Each module is imported by name.
"""
