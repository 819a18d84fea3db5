"""Generators of sites: one file each says what the program makes of its sources, as a `Project`."""
