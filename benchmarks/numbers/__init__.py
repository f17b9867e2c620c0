"""Numbers on pages: `make numbers` puts them there from the records in docs/results.

A page marks where a number goes:

    It was ahead on <!-- numbers: peers.fresh -->10 of 15<!-- /numbers --> streams.

What stands between the marks is replaced by the value of that name. A table has its marks on lines of their
own. The marks are comments of HTML, so neither GitHub nor the site shows them. `--check` writes nothing, and
fails if a page differs.
"""
