"""The views of topics."""
