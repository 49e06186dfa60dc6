"""Everything a name server knows. Pure: time arrives as `now` in milliseconds, changes leave as events."""
