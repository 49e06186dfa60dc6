"""Commands that start the Spark pipeline and show its reports."""
