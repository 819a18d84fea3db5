"""The protocols: a folder each, and the only place that speaks them: what is sent, what an answer says."""
