"""What every room stands on: errors and their table, exact text, secrets, showing, files, charsets."""
