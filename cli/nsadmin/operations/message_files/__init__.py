"""Files of messages: lines of JSON or Parquet, written by `messages export` and read by `messages import`."""
