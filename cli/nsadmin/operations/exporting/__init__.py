"""The documents that exportConfigs, exportMetadata and exportMetrics write: facts in, documents out. Pure.

Names and nesting are those of mqadmin's files, for those who read them today.
"""
