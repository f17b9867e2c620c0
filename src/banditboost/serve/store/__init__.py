"""Where logs and snapshots are kept: SQLite for one process, PostgreSQL for many."""
