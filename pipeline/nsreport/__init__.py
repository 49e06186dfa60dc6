"""nsreport: from the history of name servers to answers, on Apache Spark."""
