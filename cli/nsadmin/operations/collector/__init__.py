"""The collector, which polls name servers that write no journal, and writes journals for them."""

BROKERS_JOURNAL = "brokers"
"""The folder of the journal of brokers, beside the folders of the name servers' journals."""
