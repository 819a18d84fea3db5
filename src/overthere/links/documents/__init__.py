"""Documents: of which kind each is, in which characters, and a reader for each kind."""
