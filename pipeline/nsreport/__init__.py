"""nsreport: makes reports from the journals and logs of name servers, with Apache Spark."""
