"""Reports: one module per report, with one pure function from tables to a table that ends in a select."""
