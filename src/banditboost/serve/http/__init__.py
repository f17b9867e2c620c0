"""The service over HTTP.

- `app.py`: `create_app`, which puts it all together;
- `operations.py`: what an operation is: its path, who may call it, what it takes and answers;
- `decisions.py`, `models.py`, `log_stream.py`: the operations;
- `hot.py`: the short way for one decision and one verdict;
- `bodies.py`: the JSON that callers send; `reading.py`: how it is read within the limits;
- `headers.py`: what browsers are told;
- `auth.py`: keys, roles and hosts;
- `openapi.py`, `trying/`: the OpenAPI document, and a page to try what it describes;
- `errors.py`: refusals as problem details (RFC 9457).
"""
