"""The collector, which polls name servers that write no journal, and writes journals for them."""
