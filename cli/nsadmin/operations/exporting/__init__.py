"""The documents of exportConfigs, exportMetadata and exportMetrics, with the names and nesting of mqadmin's files."""
