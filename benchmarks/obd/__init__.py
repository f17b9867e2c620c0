"""The Open Bandit logs: what one policy earned, estimated from the log of the other one.

judge.py  both directions of each campaign
page.py   the page and its chart
"""
