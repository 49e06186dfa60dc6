"""What each column of a table means, and rows that several commands share."""
