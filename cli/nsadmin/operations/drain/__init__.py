"""The drain: stops the writes to a broker, keeps them stopped, and later restores them as they were."""
