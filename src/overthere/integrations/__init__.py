"""The values of this library as types of other libraries; each file imports the library it is named after.

`import overthere.integrations.sqlalchemy` needs the extra of that name.  docs/howto/libraries.md has their versions.
"""
