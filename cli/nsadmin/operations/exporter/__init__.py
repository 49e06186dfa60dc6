"""The Prometheus exporter: reads name servers and brokers in passes, and serves the figures as metrics."""
