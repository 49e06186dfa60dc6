"""The durable files of a name server: its journal, KV config, settings and credentials."""
