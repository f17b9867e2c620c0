"""The paper. `base` is Algorithm 1; `experts`, `exploration`, `estimate`, `costs` and `potential` are its lines and equations;
`adaptive`, `optimal`, `binary` and `full_information` the boosters. `gap` is a booster of our own (docs/gapboost.md).
`play` runs a whole stream in one compiled loop.
"""
