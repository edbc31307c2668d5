"""What comes first: rankers, the index on disk, scopes, entry points, match reranking."""
