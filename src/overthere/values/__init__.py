"""URIs and IRIs as values, with resolution, the ladder, building, forms and hosts."""
