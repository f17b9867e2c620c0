"""Weak learners: the built-in Hoeffding tree, and any Python object that can predict and learn."""
