"""The journal on disk: its writer, segments, index and reader."""
