"""Sessions: an append-only log each, the conversation over it, and what clients see of them."""
