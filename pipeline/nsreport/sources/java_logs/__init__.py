"""Java logs: turns logs of Apache's name servers and brokers (4.x, 5.x) into events and log facts."""
