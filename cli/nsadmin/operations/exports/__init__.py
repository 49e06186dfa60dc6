"""The documents that exportConfigs, exportMetadata and exportMetrics write.

Names and nesting are those of mqadmin's files, so that existing readers still work.
"""
