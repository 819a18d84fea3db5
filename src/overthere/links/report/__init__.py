"""Results of a job: rows, optional columns, the table, counts and pictures."""
