"""Input: journals, logs of Java name servers, and the files that hold them."""
