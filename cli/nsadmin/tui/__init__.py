"""The cluster, live, on a terminal; the only room that knows Textual."""
