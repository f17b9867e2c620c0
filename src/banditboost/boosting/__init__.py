"""The paper. `base` is Algorithm 1; `experts`, `exploration`, `estimate`, `costs` and `potential` are its lines and equations;
`adaptive`, `optimal`, `binary` and `full_information` the boosters; `play` runs a whole stream in one compiled loop.
"""
