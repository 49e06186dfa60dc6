"""A file per report: one pure function of tables to a table, which ends in a select."""
