"""The conversation: a pure function from a session's log and a message to new events and a reply."""
