"""The main job: documents in, rows of the link table out."""
