"""How often intervals of `banditboost.evaluation` hold, over many logs whose truth is known.

worlds.py   the settings: who logs, who is evaluated, what is earned
measure.py  all intervals of a log, and how often they hold
page.py     the page
"""
