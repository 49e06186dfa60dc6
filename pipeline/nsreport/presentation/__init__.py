"""Reports for people: tables without Spark, pages and charts."""
