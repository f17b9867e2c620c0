"""`python -m benchmarks.serve [--only PARTS] [--seconds S] [--record]`: decisions and verdicts over HTTP.

One process answers, on one core; the load comes from another process, on the other core. Pairs of a decision
(20 features, 5 labels, an id of the caller's) and its verdict are held against an endpoint of the same server
that parses and echoes the same bodies; both are measured in turn, in one run, and their ratio is told.

- `highest`: as fast as 64 connections go, one request after the other in each;
- `half`: half of the highest rate, sent by the clock; latency counts from the moment when a request was due;
- `normal`: the same with `--sync normal`;
- `batches`: 100 decisions in each request;
- `servers`: the echo alone, behind uvicorn and behind granian.
"""
