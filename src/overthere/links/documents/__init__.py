"""Documents: their kind, their charset, and a reader for each kind."""
