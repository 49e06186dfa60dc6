"""The effects of keys on the selected row: actions, key bindings, the prompt line."""
