"""The messages of a topic on the screen: the query, the kept messages, their texts and their rows."""
