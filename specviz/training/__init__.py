"""Making drafters: text that the target writes itself, and the trainers that learn from it."""
