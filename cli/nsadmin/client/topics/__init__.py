"""Topics: routes, settings, statistics, static and lite topics, deletion."""
