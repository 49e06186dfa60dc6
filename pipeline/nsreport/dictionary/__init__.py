"""The names, types, units and meanings of tables and columns."""
