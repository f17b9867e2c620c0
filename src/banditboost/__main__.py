"""`python -m banditboost`: the command line."""

from banditboost.cli import main

if __name__ == "__main__":
    main()
