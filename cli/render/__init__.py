"""A diagnosis as text for a terminal. Pure: documents in, lines out."""
