"""The chat in a terminal or over a pipe. Talks to a session through the client; decides nothing itself."""
