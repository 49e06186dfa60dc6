"""Consumer groups and clients: progress, connections, offsets, modes."""
