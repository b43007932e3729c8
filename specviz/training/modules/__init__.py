"""The drafters that learn from the target's hidden states, and how they draft."""
