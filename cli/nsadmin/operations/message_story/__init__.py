"""The story of one message: where it is, who consumed it, and what became of its retries."""
