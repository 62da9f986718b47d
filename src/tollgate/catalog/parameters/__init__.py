"""The parameters of the interface as rows, a file for each group. They are joined into one table in `names`."""
