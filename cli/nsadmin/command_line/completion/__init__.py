"""Values for TAB completion: names from servers, read from a cache that is refreshed in the background."""
