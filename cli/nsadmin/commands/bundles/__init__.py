"""Commands about support bundles."""
