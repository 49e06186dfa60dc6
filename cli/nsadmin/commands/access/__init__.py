"""Commands about users, ACLs, accounts and security."""
