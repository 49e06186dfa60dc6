"""Support bundles: collection, redaction, pseudonyms, and the comparison of two bundles."""
