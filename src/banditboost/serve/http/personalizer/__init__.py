"""The three dialects of Azure Personalizer, so that its clients can stay: change the endpoint.

- `routes.py`: paths, versions, keys and refusals; `operations.py`: the table of what is offered;
- `question.py`: what an operation is asked; `reading.py`: bodies; `refusals.py`: errors as clients read them;
- `events.py`: Rank, Reward and Activate; `rank.py`, `features.py`: what a Rank request says;
- `slots.py`: the same with slots;
- `settings.py`: configuration and learning settings; `configuration.py`, `policy.py`: what they mean here;
- `files.py`: the model's file and the log;
- `evaluations.py`: evaluations; `evaluating.py` makes them from the log, `results.py` tells them.
"""

from banditboost.serve.http.personalizer.routes import personalizer_routes

__all__ = ["personalizer_routes"]
