"""Banners and clicks: who finds the best banner, when most visitors click nothing at all?

    python -m benchmarks.clicks

Five banners, three devices, 24 hours. The best banner for a device in one half of the day is clicked by 6 %
of its visitors, every other one by 2 %. A model sees device and hour, shows one banner, and hears whether it
was clicked.
"""
