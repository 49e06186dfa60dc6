"""Compares name servers, which never talk to each other: the differences, their age and their causes."""
