"""The protocols: one folder for each, with what is sent and how answers are read."""
