"""`python -m benchmarks.serve [--part PARTS] [--seconds S] [--record]`: decisions and verdicts over HTTP.

One process answers, on one core; the load comes from another process, on the other core. Pairs of a decision
(20 features, 5 labels, an id of the caller's) and its verdict are held against an endpoint of the same server
that parses and echoes the same bodies; both are measured in turn, in one run, and their ratio is told.

- `full`: as fast as 128 connections go, one request after the other in each, everything on disk before the
  answer; then half of that, sent by the clock on 64: a wait counts from the moment when a request was due;
- `normal`: the same with `--sync normal`;
- `batches`: 100 decisions in each request.

These are the parts without `--part`. The others:

- `servers`: the echo and pairs, behind uvicorn and behind granian;
- `replay`: how long a start takes, and how many events a second are learned again;
- `models`: many models under one ceiling, and how long one takes to come back;
- `overload`: several times what it can do;
- `soak`: memory over time;
- `staleness`: what branches cost that are behind.

`models`, `soak` and `staleness` keep what they have in `--folder`, and go on there. `--record` keeps what was
measured in docs/results/serve.jsonl, and writes docs/results/serve.md.
"""
