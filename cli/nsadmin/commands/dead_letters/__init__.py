"""Commands about dead letters."""
