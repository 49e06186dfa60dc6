"""Explains why a client finds no route of a topic: gathers facts, then checks them for each known cause."""
