"""The collector: journals of name servers that keep none, written by polling them."""
