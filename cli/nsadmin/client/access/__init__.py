"""Users, ACLs, accounts of 4.x brokers, certificates, and what unauthenticated peers can reach."""
