"""What happened: events, the reducer, runs on disk."""
