"""Users, ACLs, accounts of 4.x brokers, TLS certificates, and checks of unauthenticated access."""
