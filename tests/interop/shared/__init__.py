"""Tests on one cluster of released brokers, which is started once for all files of this folder.

Each test has topics, groups and KV namespaces with names of its own. One that kills or stops a broker, or
needs other settings of it, belongs beside this folder, with a cluster of its own.
"""
