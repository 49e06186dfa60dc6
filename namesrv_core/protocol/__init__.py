"""Bytes to typed commands and back. Pure: no socket, no file, no clock."""
