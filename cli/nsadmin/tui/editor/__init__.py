"""Values, settings, topics and groups in the operator's own editor."""
