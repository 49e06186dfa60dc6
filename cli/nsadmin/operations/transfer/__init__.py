"""Transfer: messages and offsets copied from one cluster to another."""
