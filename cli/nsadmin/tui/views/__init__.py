"""What each screen shows: columns and rows of what the model knows. Pure, and knows no Textual."""
