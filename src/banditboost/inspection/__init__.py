"""Seeing what a model has learned: its summary, its trees, and which features they split on. Models have these as methods."""
