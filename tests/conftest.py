"""Settings of all tests."""

from hypothesis import settings

# For `make test-nojit`, where an example takes longer; tests that say themselves how many they want are not changed by it.
settings.register_profile("interpreted", settings.get_profile("ci"), max_examples=20)
