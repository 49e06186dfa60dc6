"""Commands about saved contexts and their credentials."""
