"""Faces: the values of this library in the terms of another; a file for each, named after it, which imports it.

`import overthere.integrations.sqlalchemy` needs the extra of that name.  docs/howto/libraries.md has their versions.
"""
