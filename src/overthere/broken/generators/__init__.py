"""Site generators: each file describes what a program builds from its sources, as a `Project`."""
