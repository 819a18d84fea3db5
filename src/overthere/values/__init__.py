"""URIs and IRIs as values, and what is computed from them: resolution, the ladder, building, forms, hosts."""
