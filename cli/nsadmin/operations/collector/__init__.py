"""The collector, which polls name servers that write no journal, and writes journals for them."""

BROKERS_JOURNAL = "brokers"
"""The folder of the journal of brokers, beside those of the name servers, and the server in its records."""
