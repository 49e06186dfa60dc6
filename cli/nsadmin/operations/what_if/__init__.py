"""What if something were gone: asked before it is."""
