"""The decoder: token ids in, rounds out. It knows nothing of text, screens or languages."""
