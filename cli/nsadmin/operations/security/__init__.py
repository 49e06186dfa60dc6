"""The security audit: observes servers with harmless requests, finds problems (pure), names remedies."""
