"""One service of many processes: all of them decide and write one log, one at a time learns a model."""
