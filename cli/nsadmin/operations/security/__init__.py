"""An audit of security: what is seen by looking, what of it is wrong, what to do. Judging is pure."""
