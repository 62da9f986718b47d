"""The cross-field rules as rows, a table for each subject. They are joined in `rules`."""
