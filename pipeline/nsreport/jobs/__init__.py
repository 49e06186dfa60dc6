"""The batch job and the streaming job."""
