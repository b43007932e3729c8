"""Getting, loading and reading models: everything before the first token, and the way from token ids back to text."""
