"""The main job: reads documents and makes the rows of the link table."""
