"""Plans: what a cluster is to have, as a file; what differs from that; and making it so."""
