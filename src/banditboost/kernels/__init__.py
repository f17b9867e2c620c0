"""The compiled core: the only package that imports Numba.

`compile` says how and where kernels are cached, `rng` the keyed random numbers, `normal` the arithmetic of split merits; the rest is the
forest: `layout` its arrays, `route`, `answer`, `observe`, `merit`, `grow` and `forest` what a Hoeffding tree does, in that order.
"""
