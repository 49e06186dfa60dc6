"""Support bundles: the answers of a cluster in a file, and a client that reads them."""
