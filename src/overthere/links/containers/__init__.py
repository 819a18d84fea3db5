"""Containers: what holds documents, and in what each of them lies."""
