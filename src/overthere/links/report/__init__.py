"""What a job gives: rows, their columns by choice, the table, counts and pictures."""
