"""The wire protocol: bytes to typed commands and back. Pure: it uses no socket, no file and no clock."""
