"""The protocols: one folder for each, with its requests and the parsing of its answers."""
