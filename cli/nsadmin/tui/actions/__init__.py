"""What a key does to the selected row: actions, key bindings, the prompt line."""
