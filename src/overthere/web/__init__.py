"""The explainer: web pages about a URI, a reference, two URIs or a text.

`views` are functions from inputs to data, `pages` draws them as HTML, and `server` serves them; the first two need no
server.  All data come from public functions of the library.
"""
