"""The meanings of the columns of tables, and rows that several commands share."""
