"""Columns about brokers. A column reads the attribute of its name; `of` reads another one."""

from nsadmin.console.output import AnyColumn, Column, of_part

CLUSTER_NAME: AnyColumn = Column("clusterName", "name of the cluster", lambda r: r.cluster_name)
BROKER_NAME: AnyColumn = Column("brokerName", "name of the broker", lambda r: r.broker_name)
BROKER_ID: AnyColumn = Column("brokerId", "0 for a master, higher for a slave", lambda r: r.broker_id)
BROKER_ADDR: AnyColumn = Column("brokerAddr", "address of the broker, HOST:PORT", lambda r: r.broker_addr)
BROKER_COLUMNS = (BROKER_NAME, BROKER_ID, BROKER_ADDR)
"""The identity of a BrokerTarget, or of another record with these attributes."""
TARGET_COLUMNS = of_part(lambda r: r[0], BROKER_COLUMNS)
"""The identity of the BrokerTarget at the beginning of a tuple whose rest is about this broker."""
VERSION: AnyColumn = Column("version", "release of RocketMQ", lambda r: r.version)
