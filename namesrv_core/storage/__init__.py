"""Files: how bytes reach the disk safely, and what is kept there."""
