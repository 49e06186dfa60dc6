"""Name servers: availability, settings, KV config, order configurations and complete tables."""
