# PowerShell completion for nsadmin, rendered from its commands

Register-ArgumentCompleter -Native -CommandName nsadmin -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # The places, options and columns of each command. Each option is FLAGS, or FLAGS=SOURCE if it takes a
    # value, then a blank and its help.
    $commands = @{
        'clusterlist' = @{
            name = 'clusterList'; family = 'read'; help = 'List brokers with their load and state'
            places = @('-c,--clusterName=clusters Only this cluster.')
            options = @('-c,--clusterName=clusters Only this cluster.', '-m,--moreStats Show the number of messages in and out, yesterday and today, instead of the load.', '-i,--interval= Repeat after this time, until Ctrl-C.', '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.'); columns = 'clusterName|brokerName|brokerId|brokerAddr|version|inTps|outTps|sendThreadPoolQueueSize|sendThreadPoolQueueHeadWaitTimeMills|pullThreadPoolQueueSize|pullThreadPoolQueueHeadWaitTimeMills|ackThreadPoolQueueSize|ackThreadPoolQueueHeadWaitTimeMills|timerReadBehind|timerOffsetBehind|timerCongestNum|timerEnqueueTps|timerDequeueTps|pageCacheLockTimeMills|hour|commitLogDiskRatio|brokerActive|reachable|error|inTotalYest|outTotalYest|inTotalToday|outTotalToday|'
        }
        'brokerstatus' = @{
            name = 'brokerStatus'; family = 'read'; help = 'Show all runtime figures of a broker'
            places = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerAddr|key|value|'
        }
        'proxylist' = @{
            name = 'proxy list'; family = 'read'; help = 'List proxies with their mode and state'
            places = @()
            options = @('-c,--cluster=clusters Ask only the brokers of this cluster.'); columns = 'proxyAddr|grpcAddr|mode|version|state|consumers|grpcConnections|lastHeartbeat|sources|error|'
        }
        'hastatus' = @{
            name = 'haStatus'; family = 'read'; help = 'Show how far slaves are behind their master'
            places = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.', '-i,--interval= Repeat after this time, until Ctrl-C.'); columns = 'brokerName|brokerId|brokerAddr|role|commitLogMaxOffset|inSyncSlaveNums|slaveAddr|slaveAckOffset|diff|inSync|transferFromWhere|masterAddr|masterFlushOffset|transferredByteInSecond|lastRead|lastWrite|error|'
        }
        'replicadiff' = @{
            name = 'replicaDiff'; family = 'read'; help = 'Compare slaves with their masters'
            places = @()
            options = @('-c,--clusterName=clusters Only the brokers of this cluster.', '-b,--brokerName= Only the replicas of this broker.', '--settle= How long to wait for slaves that may still copy a difference.', '--sync-interval= Time between two copies by a slave. Default: 70 for 5.x, 10 for 4.x.', '--lag Also list differences that the next copy may remove.'); columns = 'clusterName|brokerName|brokerId|brokerAddr|kind|name|state|differs|reason|since|master|slave|'
        }
        'getbrokerconfig' = @{
            name = 'getBrokerConfig'; family = 'read'; help = 'Show the settings of brokers'
            places = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|key|value|'
        }
        'configdiff' = @{
            name = 'configDiff'; family = 'read'; help = 'Compare settings across brokers and with defaults'
            places = @()
            options = @('-c,--clusterName=clusters Only the brokers of this cluster.', '--brokers Only brokers.', '--namesrvs Only name servers.', '--default Show settings that differ from the default of the server''s release instead.', '--own Include names, addresses, ports and paths.'); columns = 'kind|key|differs|default|values|'
        }
        'inventorylist' = @{
            name = 'inventory list'; family = 'read'; help = 'List expected brokers, also missing ones'
            places = @()
            options = @(); columns = 'clusterName|brokerName|brokerId|brokerAddr|state|pinned|topicCount|firstSeen|lastSeen|'
        }
        'inventoryforget' = @{
            name = 'inventory forget'; family = 'read'; help = 'Stop expecting a broker'
            places = @('-b,--brokers=brokers Brokers, as broker-a,broker-b:1.')
            options = @('-b,--brokers=brokers Brokers, as broker-a,broker-b:1.'); columns = 'brokerName|brokerId|result|'
        }
        'inventorypin' = @{
            name = 'inventory pin'; family = 'read'; help = 'Expect a broker until you forget it'
            places = @('-b,--brokers=brokers Brokers (broker-a,broker-b:1), a file with one broker per line, a plan, or a journal.')
            options = @('-b,--brokers=brokers Brokers (broker-a,broker-b:1), a file with one broker per line, a plan, or a journal.', '--unpin Undo the pin: forget them again after 7 days if no name server lists them.'); columns = 'brokerName|brokerId|result|'
        }
        'checkrocksdbcqwriteprogress' = @{
            name = 'checkRocksdbCqWriteProgress'; family = 'read'; help = 'Compare file and RocksDB queues'
            places = @('-c,--cluster=clusters Every master of this cluster.')
            options = @('-c,--cluster=clusters Every master of this cluster.', '-t,--topic=topics Only this topic.', '-cf,--checkFrom= Only messages stored since this time. Default: 30 days ago.'); columns = 'brokerName|brokerId|brokerAddr|checkStatus|result|error|'
        }
        'getcolddataflowctrinfo' = @{
            name = 'getColdDataFlowCtrInfo'; family = 'read'; help = 'Show cold-data read limits and use'
            places = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|consumerGroup|threshold|coldAcc|since|lastColdRead|error|'
        }
        'drainstatus' = @{
            name = 'drainStatus'; family = 'read'; help = 'List open drains and later changes'
            places = @('-b,--brokerName=brokers Only the drain of this broker.')
            options = @('-b,--brokerName=brokers Only the drain of this broker.'); columns = 'brokerName|clusterName|phase|started|by|pid|namesrvAddr|topicCount|openTopics|reopened|differing|error|'
        }
        'rebalanceplan' = @{
            name = 'rebalance plan'; family = 'read'; help = 'Propose queues that level the load of brokers'
            places = @()
            options = @('-c,--clusterName=clusters The cluster. Default: the only one.', '--add=brokers Bring this new broker into use. Repeatable.', '--remove=brokers Take all queues from this broker. Repeatable.', '--goal=load|queues|disk Level messages (load), numbers of queues, or bytes (disk).', '--topics= Move only topics that match this shell pattern, such as ''orders-*''. Repeatable.', '--sample= Measure traffic for so long, such as 5m. Default: the brokers'' statistics of up to 24 h.', '--journal=folders Read the traffic from this journal of `collect --lag`.', '--queue-counts= Numbers of queues that a changed topic may have on a broker.', '--max-topics= Change at most N topics. Default: no limit.', '--max-share= Move at most this percent of the load. Default: no limit.', '--out=files Write the plan to FILE, for rebalance run.'); columns = 'brokerName|role|writesBefore|writesAfter|readsBefore|readsAfter|diskBefore|diskAfter|queuesBefore|queuesAfter|'
        }
        'rebalancestatus' = @{
            name = 'rebalance status'; family = 'read'; help = 'List runs of rebalance plans'
            places = @()
            options = @('-c,--clusterName=clusters Only runs in this cluster. Default: all clusters.'); columns = 'clusterName|planDigest|phase|started|by|pid|movedTopics|movingTopics|topic|brokerName|stage|step|readQueueNums|writeQueueNums|since|waitingFor|planFile|error|'
        }
        'topiclist' = @{
            name = 'topicList'; family = 'read'; help = 'List topics'
            places = @()
            options = @('-c,--clusterModel Also show the clusters and consumer groups of each topic.', '--system,--no-system Whether to show RocketMQ''s own topics.', '--cluster=clusters Only topics of this cluster.'); columns = 'topic|clusterName|consumerGroups|'
        }
        'topicroute' = @{
            name = 'topicRoute'; family = 'read'; help = 'Show the brokers and queues of a topic'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '--raw Print the JSON of the name server.', '-l,--list Accepted for mqadmin. nsadmin prints rows by default.'); columns = 'topic|brokerName|clusterName|brokerAddrs|perm|readQueueNums|writeQueueNums|topicSysFlag|logicalQueues|'
        }
        'topicstatus' = @{
            name = 'topicStatus'; family = 'read'; help = 'Show the offsets of a topic''s queues'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-c,--cluster=clusters If the topic has no route: ask the brokers of this cluster or topic.'); columns = 'topic|brokerName|brokerAddr|queueId|minOffset|maxOffset|lastUpdated|topicPutTps|error|'
        }
        'topicclusterlist' = @{
            name = 'topicClusterList'; family = 'read'; help = 'List the clusters of a topic'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.'); columns = 'clusterName|'
        }
        'statsall' = @{
            name = 'statsAll'; family = 'read'; help = 'Show the traffic of topics and groups'
            places = @('-t,--topic=topics Only this topic.')
            options = @('-t,--topic=topics Only this topic.', '-a,--activeTopic Only topics with a message in the last 24 hours.'); columns = 'topic|consumerGroup|accumulation|inTps|outTps|inMsg24Hour|outMsg24Hour|error|'
        }
        'routeexplain' = @{
            name = 'route explain'; family = 'read'; help = 'Explain "No route info of this topic"'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-c,--clusterName=clusters The cluster where the client expects the topic.', '-b,--brokerAddr=addresses A broker that should have it, if no name server has that broker. Repeatable.', '--client= The name servers in the client''s configuration. nsadmin also asks these.', '--zone= The client''s zone (rocketmq.zone).', '--contexts Also look for the topic in all other contexts.', '--journal=folders Folder of a name server''s journal, or of `nsadmin collect`. Repeatable. Default: the context''s.', '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.'); columns = 'step|result|namesrvAddrs|brokerName|brokerAddr|seen|next|command|'
        }
        'allocatemq' = @{
            name = 'allocateMQ'; family = 'read'; help = 'Show which client gets which queues'
            places = @('-t,--topic=topics Name of a topic.', '-i,--ipList= Client ids, or placeholders: a,b,c.')
            options = @('-t,--topic=topics Name of a topic.', '-i,--ipList= Client ids, or placeholders: a,b,c.'); columns = 'clientId|topic|brokerName|queueId|'
        }
        'getbrokerliteinfo' = @{
            name = 'getBrokerLiteInfo'; family = 'read'; help = 'Show the lite topics of brokers'
            places = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--cluster=clusters Every master of this cluster.', '-d,--showDetail Show parent topics and their groups in the table.'); columns = 'brokerName|brokerId|brokerAddr|storeType|maxLmqNum|currentLmqNum|liteSubscriptionCount|orderInfoCount|cqTableSize|offsetTableSize|eventMapSize|topicMeta|groupMeta|error|'
        }
        'getparenttopicinfo' = @{
            name = 'getParentTopicInfo'; family = 'read'; help = 'Count the lite topics of a parent topic'
            places = @('-p,--parentTopic=topics Name of a parent topic.')
            options = @('-p,--parentTopic=topics Name of a parent topic.'); columns = 'brokerName|brokerAddr|ttl|liteTopicCount|lmqNum|groups|error|'
        }
        'getlitetopicinfo' = @{
            name = 'getLiteTopicInfo'; family = 'read'; help = 'Show offsets and subscribers of a lite topic'
            places = @('-p,--parentTopic=topics Name of a parent topic.', '-l,--liteTopic= Name of a lite topic.')
            options = @('-p,--parentTopic=topics Name of a parent topic.', '-l,--liteTopic= Name of a lite topic.', '-s,--showClientId Show subscribers in the table.'); columns = 'brokerName|brokerAddr|minOffset|maxOffset|lastUpdated|shardingToBroker|subscriberCount|subscribers|error|'
        }
        'getliteclientinfo' = @{
            name = 'getLiteClientInfo'; family = 'read'; help = 'List the lite topics of a client'
            places = @('-p,--parentTopic=topics Name of a parent topic.', '-g,--group=groups A consumer group.', '-c,--clientId= Id of a client.')
            options = @('-p,--parentTopic=topics Name of a parent topic.', '-g,--group=groups A consumer group.', '-c,--clientId= Id of a client.', '-s,--showDetail Show its lite topics in the table.'); columns = 'brokerName|brokerAddr|liteTopicCount|lastAccessTime|lastConsumeTime|liteTopics|error|'
        }
        'getlitegroupinfo' = @{
            name = 'getLiteGroupInfo'; family = 'read'; help = 'Show a group''s backlog on lite topics'
            places = @('-p,--parentTopic=topics Name of a parent topic.', '-g,--group=groups A consumer group.')
            options = @('-p,--parentTopic=topics Name of a parent topic.', '-g,--group=groups A consumer group.', '-l,--liteTopic= Only this lite topic.', '-k,--topK= Number of lite topics to show, starting with the largest backlog.'); columns = 'brokerName|brokerAddr|liteTopic|brokerOffset|consumerOffset|lagCount|earliestUnconsumedTime|lastTime|error|'
        }
        'consumerprogress' = @{
            name = 'consumerProgress'; family = 'read'; help = 'Show the backlog of one group or of all'
            places = @('-g,--groupName=groups A consumer group. Default: all groups.')
            options = @('-g,--groupName=groups A consumer group. Default: all groups.', '-t,--topicName=topics Only this topic of the group.', '-s,--showClientIP=true|false Ask the clients which of them owns each queue.', '-c,--cluster=clusters Ask only the brokers of this cluster.', '--system Without GROUP: also show the groups that brokers create for themselves.', '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.'); columns = 'group|topic|brokerName|queueId|brokerOffset|consumerOffset|diff|inflight|lastTime|clientId|brokerAddr|error|count|version|consumeType|messageModel|tps|diffTotal|inflightTotal|'
        }
        'consumerconnection' = @{
            name = 'consumerConnection'; family = 'read'; help = 'List a group''s clients and subscriptions'
            places = @('-g,--consumerGroup=groups A consumer group.')
            options = @('-g,--consumerGroup=groups A consumer group.', '-b,--brokerAddr=addresses Ask only this broker: address, NAME or NAME/ID.', '-c,--cluster=clusters Ask only the brokers of this cluster.'); columns = 'group|clientId|clientAddr|language|version|protocol|consumeType|messageModel|consumeFromWhere|subscriptions|brokerAddrs|proxyAddrs|lastHeartbeat|'
        }
        'consumerstatus' = @{
            name = 'consumerStatus'; family = 'read'; help = 'Show the state of a group''s clients'
            places = @('-g,--consumerGroup=groups A consumer group.')
            options = @('-g,--consumerGroup=groups A consumer group.', '-i,--clientId= Only this client of the group.', '-b,--brokerAddr=addresses Only clients that are connected to this broker.', '-s,--jstack Show the thread stacks of the clients instead of rows.', '-c,--cluster=clusters Ask only the brokers of this cluster.'); columns = 'group|clientId|version|language|protocol|proxyAddrs|startTime|topic|brokerName|queueId|commitOffset|cachedMsgCount|cachedMsgSizeInMiB|lastPullTime|lastConsumeTime|waitAckCount|lastPopTime|locked|dropped|consumeOKTPS|consumeFailedTPS|consumeRT|pullTPS|pullRT|subscriptions|properties|error|'
        }
        'brokerconsumestats' = @{
            name = 'brokerConsumeStats'; family = 'read'; help = 'Show the backlog of all groups on a broker'
            places = @('-b,--brokerAddr=addresses One broker: address, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: address, NAME or NAME/ID.', '-t,--timeoutMillis= Timeout of the broker.', '-l,--level= Only queues that are at least this far behind.', '-o,--order=true|false true: only ordered topics.'); columns = 'topic|group|brokerName|queueId|brokerOffset|consumerOffset|diff|lastTime|'
        }
        'getconsumerconfig' = @{
            name = 'getConsumerConfig'; family = 'read'; help = 'Show the settings of a group'
            places = @('-g,--groupName=groups A consumer group.')
            options = @('-g,--groupName=groups A consumer group.', '-c,--clusterName=clusters Only the brokers of this cluster.'); columns = 'group|brokerName|brokerAddr|consumeEnable|consumeFromMinEnable|consumeBroadcastEnable|consumeMessageOrderly|retryQueueNums|retryMaxTimes|groupRetryPolicy|consumeTimeoutMinute|brokerId|whichBrokerWhenConsumeSlowly|notifyConsumerIdsChangedEnable|groupSysFlag|subscriptionDataSet|attributes|error|'
        }
        'getconsumemode' = @{
            name = 'getConsumeMode'; family = 'read'; help = 'List groups that are set to pull or pop'
            places = @()
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.', '-t,--topicName=topics Only this topic.', '-g,--groupName=groups Only this group.'); columns = 'brokerName|brokerId|brokerAddr|topic|consumerGroup|mode|popShareQueueNum|error|'
        }
        'clientlist' = @{
            name = 'client list'; family = 'read'; help = 'List every connected client'
            places = @()
            options = @('-c,--cluster=clusters Ask only the brokers of this cluster.', '--system Also show clients that only have groups of RocketMQ itself.'); columns = 'clientId|clientAddr|language|version|protocol|role|groups|producerGroups|proxyAddrs|brokerAddrs|lastHeartbeat|'
        }
        'producer' = @{
            name = 'producer'; family = 'read'; help = 'List producers'
            places = @('-b,--broker=addresses A broker: address, NAME or NAME/ID. Default: all brokers.')
            options = @('-b,--broker=addresses A broker: address, NAME or NAME/ID. Default: all brokers.', '--internal,--no-internal Whether to show CLIENT_INNER_PRODUCER.'); columns = 'producerGroup|clientId|clientAddr|language|version|protocol|lastUpdated|brokerAddr|'
        }
        'producerconnection' = @{
            name = 'producerConnection'; family = 'read'; help = 'List the clients of a producer group'
            places = @('-g,--producerGroup=producer-groups A producer group.', '-t,--topic=topics Ask only the brokers of this topic.')
            options = @('-g,--producerGroup=producer-groups A producer group.', '-t,--topic=topics Ask only the brokers of this topic.'); columns = 'producerGroup|clientId|clientAddr|language|version|protocol|brokerAddrs|'
        }
        'querymsgbykey' = @{
            name = 'queryMsgByKey'; family = 'read'; help = 'Find messages by key'
            places = @('-t,--topic=topics Name of a topic.', '-k,--msgKey= One of the keys of a message.')
            options = @('-t,--topic=topics Name of a topic.', '-k,--msgKey= One of the keys of a message.', '-b,--beginTimestamp= Only messages stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '-e,--endTimestamp= Only messages stored until this time.', '-m,--maxNum= The maximum number of messages, the newest first.', '-p,--keyType=K|T K: a key. T: a tag, only with a RocksDB index.', '-l,--lastKey= Continue after this indexKey, with a RocksDB index.', '-c,--cluster=topics Ask the brokers of this topic or cluster instead.', '--decode= Decode bodies: base64, gzip, hex, json, avro[:SCHEMA], protobuf:FILE#TYPE. Repeatable.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|indexKey|'
        }
        'querymsgbyoffset' = @{
            name = 'queryMsgByOffset'; family = 'read'; help = 'Show the message at an offset of a queue'
            places = @('-t,--topic=topics Name of a topic.', '-b,--brokerName=brokers Name of a broker.', '-i,--queueId= Number of a queue, from 0.', '-o,--offset= Position in the queue.')
            options = @('-t,--topic=topics Name of a topic.', '-b,--brokerName=brokers Name of a broker.', '-i,--queueId= Number of a queue, from 0.', '-o,--offset= Position in the queue.', '-f,--bodyFormat= Encoding of the bodies. Default: UTF-8.', '-r,--routeTopic=topics Ask the brokers of this topic instead.', '--decode= Decode bodies: base64, gzip, hex, json, avro[:SCHEMA], protobuf:FILE#TYPE. Repeatable.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tracks|'
        }
        'querymsgtracebyid' = @{
            name = 'queryMsgTraceById'; family = 'read'; help = 'Show who sent and who consumed a message'
            places = @('-i,--msgId= Message id from the producer''s log.')
            options = @('-i,--msgId= Message id from the producer''s log.', '-t,--traceTopic=topics Topic of the traces.', '-b,--beginTimestamp= Only traces since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '-e,--endTimestamp= Only traces until this time.', '-c,--maxNum= Maximum number of trace messages to read from each broker.'); columns = 'type|group|clientHost|time|costMs|status|topic|msgId|offsetMsgId|tags|keys|storeHost|messageType|retryTimes|requestId|transactionId|'
        }
        'printmsg' = @{
            name = 'printMsg'; family = 'read'; help = 'Print the messages of a topic'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-c,--charsetName= Encoding of the bodies. Default: UTF-8.', '-s,--subExpression= Only messages with one of these tags: A || B.', '-b,--beginTimestamp= Only messages stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '-e,--endTimestamp= Only messages stored until this time.', '-d,--printBody=true|false Whether to show bodies. Default: true.', '-l,--lmqParentTopic=topics Ask the brokers of this topic instead.', '--maxNum= Maximum number of messages.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|'
        }
        'printmsgbyqueue' = @{
            name = 'printMsgByQueue'; family = 'read'; help = 'Print the messages of one queue, or count tags'
            places = @('-t,--topic=topics Name of a topic.', '-a,--brokerName=brokers Name of a broker.', '-i,--queueId= Number of a queue, from 0.')
            options = @('-t,--topic=topics Name of a topic.', '-a,--brokerName=brokers Name of a broker.', '-i,--queueId= Number of a queue, from 0.', '-c,--charsetName= Encoding of the bodies. Default: UTF-8.', '-s,--subExpression= Only messages with one of these tags: A || B.', '-b,--beginTimestamp= Only messages stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '-e,--endTimestamp= Only messages stored until this time.', '-p,--print=true|false Whether to show messages. Default: true, or false with -f.', '-d,--printBody=true|false Whether to show bodies. Default: false.', '-f,--calculate=true|false Count messages by tag, without a limit. Default: false.', '--maxNum= Maximum number of messages.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tag|count|'
        }
        'consumemessage' = @{
            name = 'consumeMessage'; family = 'read'; help = 'Print messages from an offset or a time on'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-b,--brokerName=brokers Only queues of this broker.', '-i,--queueId= With -b: only this queue.', '-o,--offset= With -i: start at this offset.', '-g,--consumerGroup=groups Ignored: nsadmin joins no group.', '-s,--beginTimestamp= Only messages stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '-e,--endTimestamp= Only messages stored until this time.', '-c,--MessageNumber= Maximum number of messages.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|'
        }
        'messagetrack' = @{
            name = 'message track'; family = 'read'; help = 'Show the story of one message'
            places = @('-t,--topic=topics Name of a topic.', '-i,--msgId= An id of either kind.')
            options = @('-t,--topic=topics Name of a topic.', '-i,--msgId= An id of either kind.'); columns = 'time|step|group|detail|topic|brokerName|queueId|queueOffset|offsetMsgId|'
        }
        'consume' = @{
            name = 'consume'; family = 'read'; help = 'Print the messages of a topic, also those to come'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '--from= earliest, latest, offset:N or a time; latest with --follow, else earliest.', '--until= Only messages stored until: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '-f,--follow Print also the messages to come, until Ctrl-C.', '--limit= Stop after N messages.', '-b,--broker=brokers Only queues of this broker.', '-i,--queue= Only queues with this id.', '--tag= Only messages with this tag. Repeatable.', '--sql= Only messages that this expression matches on the broker.', '--key= Only messages with this key. Repeatable.', '--property= Only messages with this property. Repeatable.', '--body= Only messages whose body matches somewhere.', '--field= Only messages whose JSON body has this value, such as order.id=7. Repeatable.', '--format= A line for each message, such as ''{storeTime} {body}''.', '--decode= Decode bodies: base64, gzip, hex, json, avro[:SCHEMA], protobuf:FILE#TYPE. Repeatable.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|'
        }
        'messagesexport' = @{
            name = 'messages export'; family = 'read'; help = 'Write the messages of topics to files'
            places = @('-t,--topic=topics Names of topics, separated by commas.')
            options = @('-t,--topic=topics Names of topics, separated by commas.', '--to=FILE|DIR File for all topics (.jsonl, .jsonl.gz, .parquet), or folder.', '--form=jsonl|jsonl.gz|parquet Form of the files in a folder. Default: jsonl.gz.', '--since= Only messages stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '--until= Only messages stored until this time.', '--tag= Only messages with this tag. Repeatable.', '--key= Only messages with this key. Repeatable.', '--property= Only messages with this property. Repeatable.', '--body= Only messages whose body matches somewhere.', '-b,--broker=brokers Only queues of this broker.', '-i,--queue= Only queues with this id.'); columns = 'topic|file|messageCount|bodyBytes|result|error|'
        }
        'delayedlist' = @{
            name = 'delayed list'; family = 'read'; help = 'List messages that brokers deliver later'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.'); columns = 'msgId|topic|brokerName|deliverTime|remainingMs|level|cancelled|keys|tags|storeTime|offsetMsgId|body|bodyEncoding|'
        }
        'dlqlist' = @{
            name = 'dlq list'; family = 'read'; help = 'Count the dead letters of each group'
            places = @()
            options = @('--all List also groups whose dead-letter topic is empty.'); columns = 'group|messageCount|lastHourCount|oldest|newest|originTopics|brokerNames|error|'
        }
        'dlqshow' = @{
            name = 'dlq show'; family = 'read'; help = 'Print or export the dead letters of a group'
            places = @('-g,--consumerGroup=groups Name of a consumer group.')
            options = @('-g,--consumerGroup=groups Name of a consumer group.', '--since= Only dead letters stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '--until= Only dead letters stored until this time.', '--origin=topics Only messages from this topic. Repeatable.', '--key= Only messages with this key. Repeatable.', '--tag= Only messages with this tag. Repeatable.', '--body= Only messages whose body matches somewhere, read as UTF-8.', '--id= Only the dead letter with this offsetMsgId of `dlq show`. Repeatable.', '--limit= Stop after N messages; 128 by default, all with --export.', '--export=files Write a line of JSON for each message here.', '--decode= Decode bodies: base64, gzip, hex, json, avro[:SCHEMA], protobuf:FILE#TYPE. Repeatable.'); columns = 'msgId|originTopic|originMsgId|keys|tags|attempts|replays|storeTime|ageMs|brokerName|queueId|queueOffset|offsetMsgId|bornTime|bornHost|storeSize|properties|body|bodyEncoding|bodyError|file|messageCount|'
        }
        'querycq' = @{
            name = 'queryCq'; family = 'read'; help = 'Show entries of a consume queue'
            places = @('-t,--topic=topics Name of a topic.', '-q,--queue= Number of a queue, from 0.', '-i,--index= The first entry, by its position in the queue.')
            options = @('-t,--topic=topics Name of a topic.', '-q,--queue= Number of a queue, from 0.', '-i,--index= The first entry, by its position in the queue.', '-c,--count= The maximum number of entries.', '-b,--broker=addresses Only this broker: address, NAME or NAME/ID.', '-g,--consumer=groups Show whether the filter of this group accepts each message.'); columns = 'brokerName|brokerAddr|topic|queueId|queueOffset|physicalOffset|storeSize|tagsCode|extendData|bitMap|eval|msg|'
        }
        'dumpcompactionlog' = @{
            name = 'dumpCompactionLog'; family = 'read'; help = 'Print the messages of a compaction log file'
            places = @('-f,--file=files A file of a broker on this machine.')
            options = @('-f,--file=files A file of a broker on this machine.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|'
        }
        'where' = @{
            name = 'where'; family = 'read'; help = 'Show the effective settings and test the servers'
            places = @()
            options = @(); columns = 'namesrvAddr|source|context|reachable|latencyMillis|version|signed|tls|readOnly|error|'
        }
        'divergence' = @{
            name = 'divergence'; family = 'read'; help = 'Compare name servers and explain differences'
            places = @()
            options = @('--detail Show a row for each item instead of one for each kind of difference.', '--hashes Show a row for each name server instead, with a hash of each section.', '--settle= How long brokers may take to make name servers equal. Default: 60.', '--section=broker|topic|kv|setting Only broker, topic, kv or setting. Repeatable.', '-s,--namespace=namespaces Include this KV namespace. Repeatable.', '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.'); columns = 'what|name|brokerName|count|state|seenFor|differs|cause|causeKind|advice|values|namesrvAddr|brokers|topics|brokerHash|topicHash|kvHash|settingHash|error|'
        }
        'kvget' = @{
            name = 'kv get'; family = 'read'; help = 'Show a value of the KV config'
            places = @('-s,--namespace=namespaces Namespace, for example ORDER_TOPIC_CONFIG, whose keys are topics.', '-k,--key=kv-keys Key in the namespace.')
            options = @('-s,--namespace=namespaces Namespace, for example ORDER_TOPIC_CONFIG, whose keys are topics.', '-k,--key=kv-keys Key in the namespace.'); columns = 'namesrvAddr|namespace|key|value|result|error|'
        }
        'kvlist' = @{
            name = 'kv list'; family = 'read'; help = 'List the values of a namespace'
            places = @('-s,--namespace=namespaces Namespace, for example ORDER_TOPIC_CONFIG, whose keys are topics.')
            options = @('-s,--namespace=namespaces Namespace, for example ORDER_TOPIC_CONFIG, whose keys are topics.'); columns = 'namesrvAddr|namespace|key|value|result|error|'
        }
        'kvdiff' = @{
            name = 'kv diff'; family = 'read'; help = 'Compare the KV config of name servers'
            places = @()
            options = @('-s,--namespace=namespaces KV namespace. Default: ORDER_TOPIC_CONFIG. Repeatable.'); columns = 'namespace|key|differs|values|'
        }
        'kvexport' = @{
            name = 'kv export'; family = 'read'; help = 'Write the KV config to a file'
            places = @('--file=files File to write. Default: standard output.')
            options = @('--file=files File to write. Default: standard output.', '-s,--namespace=namespaces KV namespace. Default: ORDER_TOPIC_CONFIG. Repeatable.', '--from=name-servers Export the KV config of this name server.'); columns = 'file|namespace|entries|'
        }
        'getnamesrvconfig' = @{
            name = 'getNamesrvConfig'; family = 'read'; help = 'Show the settings of name servers'
            places = @()
            options = @(); columns = 'namesrvAddr|key|value|'
        }
        'orderconfcheck' = @{
            name = 'orderConfCheck'; family = 'read'; help = 'Compare order configs with brokers'
            places = @('-t,--topic=topics Only this topic.')
            options = @('-t,--topic=topics Only this topic.'); columns = 'topic|severity|kind|problem|orderConf|servers|'
        }
        'export' = @{
            name = 'export'; family = 'read'; help = 'Write a cluster''s configuration as YAML'
            places = @('-c,--clusterName=clusters Name of a cluster.')
            options = @('-c,--clusterName=clusters Name of a cluster.', '-s,--namespace=namespaces Include this KV namespace. Repeatable.', '--schema Write the JSON schema of these files instead.'); columns = ''
        }
        'plan' = @{
            name = 'plan'; family = 'read'; help = 'Compare a file with the cluster'
            places = @('--file=files A YAML file with the wanted state.')
            options = @('--file=files A YAML file with the wanted state.', '--prune Delete items that the file does not have, in the sections that it has.', '--save-to=files Save the plan for `nsadmin apply`.', '--exit-code Exit with 2 if the plan has changes, and with 1 if the file is invalid.'); columns = 'kind|name|action|servers|changes|before|after|messages|result|error|'
        }
        'backupcreate' = @{
            name = 'backup create'; family = 'read'; help = 'Save a cluster in one file'
            places = @('-c,--clusterName=clusters Name of a cluster.')
            options = @('-c,--clusterName=clusters Name of a cluster.', '--file=files File to write. It is replaced.', '--dir=folders Folder to write to. The file is named by cluster and time.', '-s,--namespace=namespaces Include this KV namespace. Repeatable.', '--with-secrets Include passwords and secret keys, encrypted with a passphrase.', '--passphrase-file=files File with the passphrase of the passwords. Default: the variable NSADMIN_BACKUP_PASSPHRASE.', '--sign-key=files Sign the backup with a private Ed25519 key in PEM form.', '--every= Repeat after this time, such as 1h. Needs --dir.', '--keep= Keep this number of backups of the cluster in --dir, and delete older ones.'); columns = 'file|clusterName|time|brokers|topics|groups|offsets|users|size|missing|'
        }
        'backupdiff' = @{
            name = 'backup diff'; family = 'read'; help = 'Compare a backup with the cluster'
            places = @('--file=files A file of `nsadmin backup create`.', '--with= A later backup. Default: the cluster as it is now.')
            options = @('--file=files A file of `nsadmin backup create`.', '--with= A later backup. Default: the cluster as it is now.', '--offsets Also compare offsets, which move while consumers run.'); columns = 'section|brokerName|name|differs|before|after|'
        }
        'transferverify' = @{
            name = 'transfer verify'; family = 'read'; help = 'Compare messages with their copies'
            places = @('-t,--topic=topics Topics, separated by commas.')
            options = @('-t,--topic=topics Topics, separated by commas.', '--from=contexts The source: a context, or name servers (HOST:PORT).', '--to=contexts The target: a context, or name servers (HOST:PORT).', '--map-topic= Name of a topic in the target. Repeatable.'); columns = 'topic|brokerName|queueId|targetTopic|targetBroker|targetQueue|compared|copies|missing|duplicates|changed|misplaced|expired|remaining|missingOffsets|sourceHash|targetHash|result|'
        }
        'bundlecreate' = @{
            name = 'bundle create'; family = 'read'; help = 'Save the answers of a cluster in one file'
            places = @('--file=files File to write. Default: named by the time.')
            options = @('--file=files File to write. Default: named by the time.', '--since= Include journals and the audit log of this last time.', '--journal=folders Include this journal, or folder of `nsadmin collect`. Repeatable. Default: the context''s.', '-s,--namespace=namespaces Include this KV namespace. Repeatable.', '--anonymise Replace host names and addresses by pseudonyms.', '--anonymise-names Also replace names of topics, groups, brokers, clusters and users. Implies --anonymise.', '--rate= Send each server at most N requests per second. Default: 5000, or 20000 for name servers.', '--max-details= Send at most N requests about single topics, groups and clients.'); columns = 'file|time|nsadmin|nameServers|servers|answers|seconds|size|anonymised|leftOut|'
        }
        'whatif' = @{
            name = 'whatIf'; family = 'read'; help = 'Show what an outage of servers would break'
            places = @()
            options = @('--down=brokers Broker names, separated by commas. broker-a:0 is only its master.', '--down-namesrv= Addresses of name servers, separated by commas.', '--down-proxy=proxies Addresses of proxies, separated by commas.', '--detail Show each topic, broker and client, also those with a partial loss.', '--system Include RocketMQ''s own topics, and topics of retries and dead letters.'); columns = 'what|name|count|finding|lostRatio|writeQueues|writeQueuesLeft|readQueues|readQueuesLeft|brokersLost|topics|clients|namesrvAddrs|nameServers|nameServersLeft|clientsLeft|proxyAddrs|'
        }
        'spread' = @{
            name = 'spread'; family = 'read'; help = 'List topics that are unbalanced across brokers'
            places = @('-t,--topic=topics Only this topic.')
            options = @('-t,--topic=topics Only this topic.', '--all All topics that are unbalanced.', '-c,--clusterName=clusters Only this cluster.', '--plan=files Write a plan that balances them, for plan and apply.'); columns = 'clusterName|topic|finding|missing|queues|differing|'
        }
        'registrationsize' = @{
            name = 'registrationSize'; family = 'read'; help = 'Compare registrations with their limit'
            places = @()
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.', '--largest= Show this number of topics of each broker, the largest first.', '--removable Show the topics of retries and dead letters whose group no longer exists.'); columns = 'clusterName|brokerName|brokerId|brokerAddr|version|topics|form|frames|bytes|framePercent|fits|removable|removableBytes|largestTopic|largestTopicBytes|error|topic|vanishedGroup|'
        }
        'listuser' = @{
            name = 'listUser'; family = 'read'; help = 'List users'
            places = @()
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.', '-f= Only users whose names contain this text.'); columns = 'brokerName|brokerId|brokerAddr|username|userType|userStatus|'
        }
        'getuser' = @{
            name = 'getUser'; family = 'read'; help = 'Show a user'
            places = @('-u,--username= Name of the user.')
            options = @('-u,--username= Name of the user.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|username|userType|userStatus|'
        }
        'listacl' = @{
            name = 'listAcl'; family = 'read'; help = 'List ACLs'
            places = @()
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.', '-s,--subject= Only subjects that contain this text.', '-r,--resource= Only resources that contain this text.'); columns = 'brokerName|brokerId|brokerAddr|subject|policyType|resource|actions|sourceIps|decision|'
        }
        'getacl' = @{
            name = 'getAcl'; family = 'read'; help = 'Show the ACL of a user'
            places = @('-s,--subject= The user: User:NAME or NAME.')
            options = @('-s,--subject= The user: User:NAME or NAME.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|subject|policyType|resource|actions|sourceIps|decision|'
        }
        'getaclconfig' = @{
            name = 'getAclConfig'; family = 'read'; help = 'List accounts (brokers of 4.x)'
            places = @()
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|accessKey|admin|whiteRemoteAddress|defaultTopicPerm|defaultGroupPerm|topicPerms|groupPerms|globalWhiteAddrs|'
        }
        'clusteraclconfigversion' = @{
            name = 'clusterAclConfigVersion'; family = 'read'; help = 'Show versions of ACL files (4.x)'
            places = @()
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|aclFile|counter|lastUpdated|'
        }
        'getcontrollermetadata' = @{
            name = 'getControllerMetaData'; family = 'read'; help = 'Show the controllers and their leader'
            places = @()
            options = @('-a,--controllerAddress= Controllers, as HOST:PORT;HOST:PORT.'); columns = 'controllerAddr|isLeader|group|leaderId|leaderAddr|peers|'
        }
        'getsyncstateset' = @{
            name = 'getSyncStateSet'; family = 'read'; help = 'List replicas and whether they are in sync'
            places = @()
            options = @('-a,--controllerAddress= Controllers, as HOST:PORT;HOST:PORT.', '-b,--brokerName=brokers Only this broker.', '-c,--clusterName=clusters Every broker of this cluster.', '-i,--interval= Repeat after this time, until Ctrl-C.'); columns = 'brokerName|brokerId|brokerAddr|isMaster|inSync|alive|masterEpoch|syncStateSetEpoch|'
        }
        'getbrokerepoch' = @{
            name = 'getBrokerEpoch'; family = 'read'; help = 'Show the epochs of brokers'
            places = @()
            options = @('-b,--brokerName=brokers Only this broker.', '-c,--clusterName=clusters Every broker of this cluster.', '-i,--interval= Repeat after this time, until Ctrl-C.'); columns = 'brokerName|brokerId|brokerAddr|epoch|startOffset|endOffset|maxOffset|'
        }
        'getcontrollerconfig' = @{
            name = 'getControllerConfig'; family = 'read'; help = 'Show the settings of controllers'
            places = @()
            options = @('-a,--controllerAddress= Controllers, as HOST:PORT;HOST:PORT.'); columns = 'controllerAddr|key|value|'
        }
        'history' = @{
            name = 'history'; family = 'read'; help = 'Show past changes of a topic, broker or key'
            places = @('--kind=topic|broker|cluster|kv topic, broker, cluster or kv. Default: all events.', '--name= Name of the subject; for kv, the namespace.', '--key= For kv: only this key.')
            options = @('--kind=topic|broker|cluster|kv topic, broker, cluster or kv. Default: all events.', '--name= Name of the subject; for kv, the namespace.', '--key= For kv: only this key.', '--since= Only events since this time: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '--until= Only events before this time.', '--type= Only events of this type, such as TopicsChanged. Repeatable.', '--limit= Only the newest N events; 0 for all. Default: 1000.', '-f,--follow Follow new events, until Ctrl-C.', '--namesrv= Only the journal of this name server, by its name in the records.', '--journal=folders Folder of a name server''s journal, or of `nsadmin collect`. Repeatable. Default: the context''s.'); columns = 'seq|time|server|type|changes|cause|client|event|'
        }
        'routeat' = @{
            name = 'route at'; family = 'read'; help = 'Show the route of a topic at a past time'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '--at= ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '--namesrv= Only the journal of this name server, by its name in the records.', '--journal=folders Folder of a name server''s journal, or of `nsadmin collect`. Repeatable. Default: the context''s.'); columns = 'topic|brokerName|clusterName|brokerAddrs|perm|readQueueNums|writeQueueNums|topicSysFlag|logicalQueues|server|'
        }
        'routediff' = @{
            name = 'route diff'; family = 'read'; help = 'Compare routes of two times or places'
            places = @('-t,--topic=topics Only this topic.')
            options = @('-t,--topic=topics Only this topic.', '--from= The first side: a snapshot file, a name server (HOST:PORT), a context, or a time.', '--to= The second side: the same kinds.', '--unified Print text in the format of diff -U0.', '--namesrv= Only the journal of this name server, by its name in the records.', '--journal=folders Folder of a name server''s journal, or of `nsadmin collect`. Repeatable. Default: the context''s.'); columns = 'what|name|brokerName|changes|before|after|'
        }
        'snapshotsave' = @{
            name = 'snapshot save'; family = 'read'; help = 'Save the state of the name servers to a file'
            places = @('--file=files File to write. Default: a name with the current time.')
            options = @('--file=files File to write. Default: a name with the current time.', '-s,--namespace=namespaces Include this KV namespace. Repeatable.', '--at= Save the state at a past time, from a journal: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '--namesrv= Only the journal of this name server, by its name in the records.', '--journal=folders Folder of a name server''s journal, or of `nsadmin collect`. Repeatable. Default: the context''s.'); columns = 'file|time|nameServers|brokers|topics|kvEntries|size|'
        }
        'collect' = @{
            name = 'collect'; family = 'read'; help = 'Record journals of name servers that keep none'
            places = @('--dir=folders Folder of the journals, with a subfolder for each name server.')
            options = @('--dir=folders Folder of the journals, with a subfolder for each name server.', '--interval= Time between two polls: 500ms, 15s, 1m. Default: 15s.', '--rate= Maximum requests per second, to all servers together. Default: 1000.', '-s,--namespace= KV namespace to poll in addition to ORDER_TOPIC_CONFIG. Repeatable.', '--once Poll each name server once, for cron.', '--runtime Also poll brokers: release, TPS, disk, waiting requests.', '--lag Also poll how far each consumer group is behind on each topic.', '--broker-interval= Time between two rounds of brokers. Default: 60s.', '--broker-rate= Maximum requests per second to brokers. Default: 50.', '--keep-days= Maximum age of a journal''s files. Default: 400.', '--keep-megabytes= Maximum size of each journal. Default: 2048.'); columns = 'namesrvAddr|result|brokers|topics|events|took|journal|error|'
        }
        'exporter' = @{
            name = 'exporter'; family = 'read'; help = 'Serve metrics of a cluster for Prometheus'
            places = @()
            options = @('--http= Address of the metrics page. Without a host: 127.0.0.1. Default: 9557.', '--contexts= Contexts to export, separated by commas. Default: the name servers of the command line.', '--interval= Time between two passes over all brokers. Default: 30s.', '--topic-interval= Time between two passes over topics. Default: 60s.', '--rate= Maximum requests per second to all servers of a cluster. Default: 250.', '--include= Only topics and groups that match, such as ''orders*''. Repeatable.', '--exclude= No topics and groups that match. Repeatable.', '--system Also the topics and groups that brokers create for themselves.', '--per-queue Also a series for each queue of a topic and of a group.', '--compat Also the metrics of rocketmq-exporter under its names; implies --system.', '--max-series= Maximum series of a page. Default: 100000.'); columns = ''
        }
        'discoveryprometheus' = @{
            name = 'discovery prometheus'; family = 'read'; help = 'Print all servers as targets for Prometheus'
            places = @()
            options = @('--port= Port of the targets, such as 9100 for node_exporter. Default: the port of each server.'); columns = ''
        }
        'exportconfigs' = @{
            name = 'exportConfigs'; family = 'read'; help = 'Export broker settings as JSON'
            places = @('-c,--clusterName=clusters Name of a cluster.')
            options = @('-c,--clusterName=clusters Name of a cluster.', '-f,--filePath=folders Write a file to this folder instead of standard output.', '--all All settings, not only the 16 settings that mqadmin picks.'); columns = 'file|brokers|size|'
        }
        'exportmetadata' = @{
            name = 'exportMetadata'; family = 'read'; help = 'Export topics and groups as JSON'
            places = @('-c,--clusterName=clusters Every master of this cluster.')
            options = @('-c,--clusterName=clusters Every master of this cluster.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-f,--filePath=folders Write a file to this folder instead of standard output.', '-t,--topic Only topics.', '-g,--subscriptionGroup Only consumer groups.', '-s,--specialTopic Also the topics of retries and dead letters.', '--sum Add up the queues of all brokers, like mqadmin. Use this only for counting.'); columns = 'file|brokers|size|'
        }
        'exportmetrics' = @{
            name = 'exportMetrics'; family = 'read'; help = 'Export load, versions and sizes as JSON'
            places = @('-c,--clusterName=clusters Name of a cluster.')
            options = @('-c,--clusterName=clusters Name of a cluster.', '-f,--filePath=folders Write a file to this folder instead of standard output.'); columns = 'file|brokers|size|'
        }
        'exportmetadatainrocksdb' = @{
            name = 'exportMetadataInRocksDB'; family = 'read'; help = 'Export topics or groups from RocksDB'
            places = @('-p,--path=folders A broker''s config folder on this machine.', '-t,--configType=topics|subscriptionGroups The tables to read.')
            options = @('-p,--path=folders A broker''s config folder on this machine.', '-t,--configType=topics|subscriptionGroups The tables to read.', '-j,--jsonEnable=true|false true: print JSON in the broker''s format instead of rows.'); columns = 'key|value|'
        }
        'updatebrokerconfig' = @{
            name = 'updateBrokerConfig'; family = 'change'; help = 'Change a setting of brokers'
            places = @('-k,--key=broker-keys A setting that getBrokerConfig shows.', '-v,--value= The new value.')
            options = @('-k,--key=broker-keys A setting that getBrokerConfig shows.', '-v,--value= The new value.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters Every master of this cluster.', '-a,--updateAllBroker=true|false With -c: also the slaves.'); columns = 'brokerName|brokerId|brokerAddr|key|changes|before|after|result|error|'
        }
        'sendmsgstatus' = @{
            name = 'sendMsgStatus'; family = 'change'; help = 'Time test messages to one broker'
            places = @('-b,--brokerName=brokers Name of a broker.')
            options = @('-b,--brokerName=brokers Name of a broker.', '-s,--messageSize= Bytes of each body.', '-c,--count= Number of messages, sent one after another.'); columns = 'brokerName|brokerAddr|queueId|offsetMsgId|queueOffset|rt|result|error|'
        }
        'clusterrt' = @{
            name = 'clusterRT'; family = 'change'; help = 'Time test messages to every master'
            places = @()
            options = @('-a,--amount= Number of messages for each broker.', '-s,--size= Bytes of each body.', '-c,--cluster=clusters Only this cluster.', '-p,--print=true|false true: print lines of TIME|ROOM|CLUSTER|BROKER|MS.', '-m,--machineRoom= Location of the measurement, for a column.', '-i,--interval= Repeat after this time, until Ctrl-C.'); columns = 'time|machineRoom|clusterName|brokerName|brokerAddr|rt|maxRt|successCount|failCount|result|error|'
        }
        'cleanexpiredcq' = @{
            name = 'cleanExpiredCQ'; family = 'change'; help = 'Delete consume queue files of expired messages'
            places = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--cluster=clusters Every master and slave of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|changes|result|error|'
        }
        'deleteexpiredcommitlog' = @{
            name = 'deleteExpiredCommitLog'; family = 'change'; help = 'Delete expired commit log files'
            places = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--cluster=clusters Every master and slave of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|changes|result|error|'
        }
        'cleanunusedtopic' = @{
            name = 'cleanUnusedTopic'; family = 'change'; help = 'Delete consume queues of topics without config'
            places = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--cluster=clusters Every master and slave of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|changes|result|error|'
        }
        'setcommitlogreadaheadmode' = @{
            name = 'setCommitLogReadAheadMode'; family = 'change'; help = 'Switch commit log read-ahead'
            places = @('-m,--commitLogReadAheadMode=0|1 0 enables read-ahead, 1 disables it.')
            options = @('-m,--commitLogReadAheadMode=0|1 0 enables read-ahead, 1 disables it.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|changes|before|after|result|error|'
        }
        'switchtimerengine' = @{
            name = 'switchTimerEngine'; family = 'change'; help = 'Choose the store of timed messages'
            places = @('-e,--engineType=R|F R (RocksDB) or F (time wheel files).')
            options = @('-e,--engineType=R|F R (RocksDB) or F (time wheel files).', '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.', '-c,--clusterName=clusters All masters of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|changes|before|after|result|error|'
        }
        'resetmasterflushoffset' = @{
            name = 'resetMasterFlushOffset'; family = 'change'; help = 'Set the master flush offset on a slave'
            places = @('-o,--offset= Position in the commit log, in bytes.')
            options = @('-o,--offset= Position in the commit log, in bytes.', '-b,--brokerAddr=addresses A slave: address or NAME/ID.'); columns = 'brokerName|brokerId|brokerAddr|changes|before|after|result|error|'
        }
        'updatecolddataflowctrgroupconfig' = @{
            name = 'updateColdDataFlowCtrGroupConfig'; family = 'change'; help = 'Limit a group''s cold-data reads'
            places = @('-g,--consumerGroup=groups Name of a group.', '-v,--threshold= Bytes of cold data per second.')
            options = @('-g,--consumerGroup=groups Name of a group.', '-v,--threshold= Bytes of cold data per second.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|consumerGroup|changes|before|after|result|error|'
        }
        'removecolddataflowctrgroupconfig' = @{
            name = 'removeColdDataFlowCtrGroupConfig'; family = 'change'; help = 'Remove a group''s cold-data limit'
            places = @('-g,--consumerGroup=groups Name of a group.')
            options = @('-g,--consumerGroup=groups Name of a group.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|consumerGroup|changes|before|after|result|error|'
        }
        'addbroker' = @{
            name = 'addBroker'; family = 'change'; help = 'Start a broker in a broker container'
            places = @('-c,--brokerContainerAddr= Address of the container.', '-b,--brokerConfigPath= The broker''s properties file, on the container''s machine.')
            options = @('-c,--brokerContainerAddr= Address of the container.', '-b,--brokerConfigPath= The broker''s properties file, on the container''s machine.'); columns = 'brokerContainerAddr|broker|result|error|'
        }
        'removebroker' = @{
            name = 'removeBroker'; family = 'change'; help = 'Stop a broker in a broker container'
            places = @('-c,--brokerContainerAddr= Address of the container.', '-b,--brokerIdentity= The broker to stop. 0 is the id of a master.')
            options = @('-c,--brokerContainerAddr= Address of the container.', '-b,--brokerIdentity= The broker to stop. 0 is the id of a master.'); columns = 'brokerContainerAddr|broker|result|error|'
        }
        'drain' = @{
            name = 'drain'; family = 'change'; help = 'Stop writes to a broker until it is safe to stop'
            places = @('-b,--brokerName=brokers Name of a broker, from clusterList.')
            options = @('-b,--brokerName=brokers Name of a broker, from clusterList.', '--hold Keep the broker drained after it is safe to stop, until Ctrl-C.', '--then= Shell command to run when the broker is safe to stop. {brokerName} and {brokerAddr} are replaced, and are in NSADMIN_BROKER_NAME and NSADMIN_BROKER_ADDR.', '--for-good Also wait until consumer groups have read all messages on the broker.', '--move-queues With --for-good: first move the broker''s queues to other brokers.', '--durable Change brokerPermission, which survives a restart of the broker, instead of name servers.', '--force Drain even if some topics lose their only writable broker.', '--allow-unreachable Continue even if a name server does not answer.', '--threshold= Messages per minute that count as no traffic. Default: 0.', '--settle= How long clients need to refresh their routes (pollNameServerInterval). Default: 30s.', '--interval= Time between two checks. Default: 10s.', '--intervals= Number of checks in a row without writes. Default: 3.'); columns = 'namesrvAddr|brokerName|topicCount|openTopics|result|error|'
        }
        'undrain' = @{
            name = 'undrain'; family = 'change'; help = 'Restore the permissions from before the drain'
            places = @('-b,--brokerName=brokers Name of a broker, from clusterList.')
            options = @('-b,--brokerName=brokers Name of a broker, from clusterList.'); columns = 'namesrvAddr|brokerName|topicCount|how|differing|result|error|'
        }
        'rollingrestart' = @{
            name = 'rollingRestart'; family = 'change'; help = 'Restart the brokers of a cluster one by one'
            places = @('-c,--clusterName=clusters Name of the cluster.')
            options = @('-c,--clusterName=clusters Name of the cluster.', '--stop= Shell command that stops a broker. {brokerName}, {brokerAddr}, {brokerId} are replaced, and are in NSADMIN_BROKER_NAME, NSADMIN_BROKER_ADDR, NSADMIN_BROKER_ID.', '--start= Shell command that starts a broker, with the same replacements.', '--pause-after= Stop after this number of broker names. The next run resumes.', '--patience= How long a broker may take to become healthy. Default: 10m.', '--durable Drain with brokerPermission, which also stops writes until slaves are in sync.', '--force Restart even if some topics have only one broker.', '--allow-unreachable Continue even if a name server does not answer.', '--threshold= Messages per minute that count as no traffic. Default: 0.', '--settle= How long clients need to refresh their routes (pollNameServerInterval). Default: 30s.', '--interval= Time between two checks. Default: 10s.', '--intervals= Number of checks in a row without writes. Default: 3.'); columns = 'brokerName|brokerId|brokerAddr|steps|openTopics|result|'
        }
        'rebalancerun' = @{
            name = 'rebalance run'; family = 'change'; help = 'Move queues as a plan says, or move them back'
            places = @('--file=files A plan of `nsadmin rebalance plan`.')
            options = @('--file=files A plan of `nsadmin rebalance plan`.', '--rollback Move the topics back to where they were before this plan.', '--ordered Also move ordered topics, and keep the sequence of every key.', '--ignore-group=groups Do not wait for this group: it loses its unconsumed messages. Repeatable.', '--max-topics= Topics that move at once. Default: 10.', '--max-share= Percent of the cluster''s write queues whose topics move at once. Default: 20.', '--max-lag= Pause if a group has more unconsumed messages of a moving topic. Default: no limit.', '--max-disk= Pause if a broker that gets queues uses more of its disk. Default: 85.', '--max-send-errors= Pause if a broker fails to store more messages per minute. Default: 60.', '--timeout= Pause if a step takes longer. Default: no limit.', '--settle= How long clients need to refresh their routes and to share out queues. Default: 60s.', '--interval= Time between two checks. Default: 5s.'); columns = 'topic|brokerName|readBefore|readAfter|writeBefore|writeAfter|ordered|result|'
        }
        'wipewriteperm' = @{
            name = 'wipeWritePerm'; family = 'change'; help = 'Remove the write permission of a broker'
            places = @('-b,--brokerName=brokers Name of a broker, from clusterList.')
            options = @('-b,--brokerName=brokers Name of a broker, from clusterList.'); columns = 'namesrvAddr|brokerName|topicCount|changes|before|after|result|error|'
        }
        'addwriteperm' = @{
            name = 'addWritePerm'; family = 'change'; help = 'Give a broker write permission again'
            places = @('-b,--brokerName=brokers Name of a broker, from clusterList.')
            options = @('-b,--brokerName=brokers Name of a broker, from clusterList.'); columns = 'namesrvAddr|brokerName|topicCount|changes|before|after|result|error|'
        }
        'repairwipe' = @{
            name = 'repair wipe'; family = 'change'; help = 'Restore each topic''s permission from the broker'
            places = @('-b,--brokerName=brokers Name of a broker, from clusterList.')
            options = @('-b,--brokerName=brokers Name of a broker, from clusterList.'); columns = 'namesrvAddr|brokerName|topicCount|missing|changes|before|after|how|result|error|'
        }
        'repairregister' = @{
            name = 'repair register'; family = 'change'; help = 'Register all topics of a broker again'
            places = @('-b,--brokerName=brokers Name of a broker, from clusterList.')
            options = @('-b,--brokerName=brokers Name of a broker, from clusterList.'); columns = 'namesrvAddr|brokerName|topicCount|missing|changes|before|after|how|result|error|'
        }
        'updatetopic' = @{
            name = 'updateTopic'; family = 'change'; help = 'Create or change a topic'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.', '-c,--clusterName=clusters All masters of this cluster.', '-r,--readQueueNums= Number of read queues.', '-w,--writeQueueNums= Number of write queues.', '-p,--perm=2|4|6 6 (read and write), 4 (read) or 2 (write).', '-o,--order=true|false Ordered messages. true also writes the order configuration.', '-u,--unit=true|false Whether the topic belongs to a unit.', '-s,--hasUnitSub=true|false Whether units subscribe to the topic.', '-a,--attributes= Attributes: +message.type=FIFO,-other. 5.0 and later.'); columns = 'target|role|brokerName|topic|changes|before|after|result|error|'
        }
        'updatetopicperm' = @{
            name = 'updateTopicPerm'; family = 'change'; help = 'Change the permission of a topic'
            places = @('-t,--topic=topics Name of a topic.', '-p,--perm=2|4|6 6 (read and write), 4 (read) or 2 (write).')
            options = @('-t,--topic=topics Name of a topic.', '-p,--perm=2|4|6 6 (read and write), 4 (read) or 2 (write).', '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.', '-c,--clusterName=clusters All masters of this cluster.'); columns = 'target|role|brokerName|topic|changes|before|after|result|error|'
        }
        'updatetopiclist' = @{
            name = 'updateTopicList'; family = 'change'; help = 'Create or change the topics of a file'
            places = @('-f,--filename=files A JSON list in mqadmin''s format, or a file of exportMetadata or `nsadmin export`.')
            options = @('-f,--filename=files A JSON list in mqadmin''s format, or a file of exportMetadata or `nsadmin export`.', '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.', '-c,--clusterName=clusters All masters of this cluster.'); columns = 'kind|name|action|servers|changes|before|after|messages|result|error|'
        }
        'deletetopic' = @{
            name = 'deleteTopic'; family = 'change'; help = 'Delete a topic and its messages'
            places = @('-t,--topic=topics Name of a topic.', '-c,--clusterName=clusters The cluster to delete it from.')
            options = @('-t,--topic=topics Name of a topic.', '-c,--clusterName=clusters The cluster to delete it from.'); columns = 'target|role|topic|changes|before|after|result|error|'
        }
        'updatestatictopic' = @{
            name = 'updateStaticTopic'; family = 'change'; help = 'Create or enlarge a static topic'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-qn,--totalQueueNum= Total number of logical queues.', '-b,--brokers=brokers Names of brokers.', '-c,--clusters=clusters All brokers of these clusters.', '-mf,--mapFile=files Execute this mapping file instead, see above.', '-fr,--forceReplace=true|false Make brokers accept mappings that they would refuse.'); columns = 'topic|queueId|before|after|brokerQueueId|logicOffset|result|error|'
        }
        'remappingstatictopic' = @{
            name = 'remappingStaticTopic'; family = 'change'; help = 'Move queues of a static topic'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-b,--brokers=brokers Names of brokers.', '-c,--clusters=clusters All brokers of these clusters.', '-mf,--mapFile=files Execute this mapping file instead, see above.', '-fr,--forceReplace=true|false Make brokers accept mappings that they would refuse.'); columns = 'topic|queueId|before|after|brokerQueueId|logicOffset|result|error|'
        }
        'triggerlitedispatch' = @{
            name = 'triggerLiteDispatch'; family = 'change'; help = 'Dispatch lite topics to clients again'
            places = @('-p,--parentTopic=topics Name of a parent topic.', '-g,--group=groups A consumer group.')
            options = @('-p,--parentTopic=topics Name of a parent topic.', '-g,--group=groups A consumer group.', '-c,--clientId= Only for this client.', '-b,--brokerName=brokers Only on this broker.'); columns = 'brokerName|brokerAddr|group|clientId|result|error|'
        }
        'updatesubgroup' = @{
            name = 'updateSubGroup'; family = 'change'; help = 'Create or change a group'
            places = @('-g,--groupName=groups A consumer group.')
            options = @('-g,--groupName=groups A consumer group.', '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.', '-c,--clusterName=clusters All masters of this cluster.', '-s,--consumeEnable=true|false Whether the group may consume.', '-m,--consumeFromMinEnable=true|false Whether it starts at the oldest message.', '-d,--consumeBroadcastEnable=true|false Whether it may broadcast.', '-o,--consumeMessageOrderly=true|false Consume in order. 5.0 and later.', '-q,--retryQueueNums= Queues of the retry topic.', '-r,--retryMaxTimes= Retries before a dead letter.', '-p,--groupRetryPolicy= Delays between retries, in JSON. 5.0 and later.', '-i,--brokerId= Id of the broker to consume from.', '-w,--whichBrokerWhenConsumeSlowly= The same if the group is far behind.', '-a,--notifyConsumerIdsChanged=true|false Notify clients of new ones.', '--attributes= Attributes, as in +key=value,-other. 5.1.3 and later.'); columns = 'target|brokerName|group|changes|before|after|result|error|'
        }
        'updatesubgrouplist' = @{
            name = 'updateSubGroupList'; family = 'change'; help = 'Create or change the groups of a file'
            places = @('-f,--filename=files A JSON list in mqadmin''s format, or a file of exportMetadata or `nsadmin export`.')
            options = @('-f,--filename=files A JSON list in mqadmin''s format, or a file of exportMetadata or `nsadmin export`.', '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.', '-c,--clusterName=clusters All masters of this cluster.'); columns = 'kind|name|action|servers|changes|before|after|messages|result|error|'
        }
        'deletesubgroup' = @{
            name = 'deleteSubGroup'; family = 'change'; help = 'Delete a group'
            places = @('-g,--groupName=groups A consumer group.')
            options = @('-g,--groupName=groups A consumer group.', '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.', '-c,--clusterName=clusters All masters of this cluster.', '-r,--removeOffset=true|false Also delete the group''s offsets.', '--keep-topics With -c: keep the group''s retry and dead-letter topics.'); columns = 'target|role|group|topic|changes|before|after|result|error|'
        }
        'setconsumemode' = @{
            name = 'setConsumeMode'; family = 'change'; help = 'Set a group to pull or pop'
            places = @('-t,--topicName=topics Name of a topic.', '-g,--groupName=groups Name of a group.', '-m,--mode=PULL|POP PULL or POP.')
            options = @('-t,--topicName=topics Name of a topic.', '-g,--groupName=groups Name of a group.', '-m,--mode=PULL|POP PULL or POP.', '-q,--popShareQueueNum= With POP: how many more clients share a queue.', '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.', '-c,--clusterName=clusters All masters of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|topic|consumerGroup|changes|before|after|result|error|'
        }
        'resetoffsetbytime' = @{
            name = 'resetOffsetByTime'; family = 'change'; help = 'Move a group to a time or an offset'
            places = @('-g,--group=groups A consumer group.', '-t,--topic=topics Name of a topic.')
            options = @('-g,--group=groups A consumer group.', '-t,--topic=topics Name of a topic.', '-s,--timestamp= The target time: -1 (the end), ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '-f,--force=true|false false: only move backwards, on brokers before 5.2. Otherwise ignored.', '-b,--broker=addresses With -q: the master with the queue.', '-q,--queue= With -b: only this queue.', '-o,--offset= With -b and -q: the target offset. Takes precedence over -s.', '-c,--cluster=clusters Only the brokers of this cluster.', '--no-verify Do not wait for the next commits of connected clients.'); columns = 'group|topic|brokerName|brokerAddr|queueId|from|to|skipped|repeated|result|error|'
        }
        'skipaccumulatedmessage' = @{
            name = 'skipAccumulatedMessage'; family = 'change'; help = 'Move a group to the end of a topic'
            places = @('-g,--group=groups A consumer group.', '-t,--topic=topics Name of a topic.')
            options = @('-g,--group=groups A consumer group.', '-t,--topic=topics Name of a topic.', '-f,--force=true|false false: only move backwards, on brokers before 5.2. Otherwise ignored.', '-c,--cluster=clusters Only the brokers of this cluster.', '--no-verify Do not wait for the next commits of connected clients.'); columns = 'group|topic|brokerName|brokerAddr|queueId|from|to|skipped|repeated|result|error|'
        }
        'clonegroupoffset' = @{
            name = 'cloneGroupOffset'; family = 'change'; help = 'Copy the offsets of another group'
            places = @('-s,--srcGroup=groups The group whose offsets are copied.', '-d,--destGroup=groups The group that is moved.', '-t,--topic=topics Name of a topic.')
            options = @('-s,--srcGroup=groups The group whose offsets are copied.', '-d,--destGroup=groups The group that is moved.', '-t,--topic=topics Name of a topic.', '-o,--offline=true|false true: refuse if a client of GROUP is connected.', '--no-verify Do not wait for the next commits of connected clients.'); columns = 'group|topic|brokerName|brokerAddr|queueId|from|to|skipped|repeated|result|error|'
        }
        'sendmessage' = @{
            name = 'sendMessage'; family = 'change'; help = 'Send a text message'
            places = @('-t,--topic=topics Name of a topic.', '-p,--body= Text of the message.')
            options = @('-t,--topic=topics Name of a topic.', '-p,--body= Text of the message.', '-k,--key= Keys, separated by blanks.', '-c,--tags= Tag of the message.', '-b,--broker=brokers Name of the broker to send to.', '-i,--qid= Queue to send to. Needs -b.', '-m,--msgTraceEnable=true|false Whether to write a trace. Default: false.', '--property= A property. Repeatable.'); columns = 'topic|brokerName|brokerAddr|queueId|msgId|offsetMsgId|queueOffset|costMs|result|error|'
        }
        'produce' = @{
            name = 'produce'; family = 'change'; help = 'Send messages from a text, a file or a template'
            places = @('-t,--topic=topics Name of a topic.', '--body= Text of the message. Default: read the input.')
            options = @('-t,--topic=topics Name of a topic.', '--body= Text of the message. Default: read the input.', '--input=files Read messages from FILE; - is standard input.', '--jsonl Each line of the input is a JSON object: see above.', '--raw The whole input is one body. Default: each line.', '--template= Generate bodies with {n} (1, 2, 3 ...), {time}, {uuid}, {random:1-100}.', '--count= Send BODY or the template N times.', '-k,--key= Keys, separated by blanks; placeholders work here too.', '-c,--tags= The tag.', '--property= A property. Repeatable.', '--sharding-key= Send to one queue, in order; placeholders work too.', '--delay= A level from 1 to 18, or a duration on brokers since 5.0.', '--compression=zlib|lz4|zstd Compress the bodies that get smaller.', '--compress The same as --compression zlib.', '--transaction=commit|rollback Send each message in a transaction that ends like this.', '--trace Write traces to RMQ_SYS_TRACE_TOPIC, as Java producers do.', '--rate= Send at most N messages per second.', '-b,--broker=brokers Only queues of this broker.', '-i,--queue= Only queues with this id.', '--each Print a row for each message, with its ids.'); columns = 'topic|brokerName|transaction|messageCount|bodyBytes|failed|messagesPerSecond|result|error|brokerAddr|queueId|msgId|offsetMsgId|queueOffset|costMs|'
        }
        'messagesimport' = @{
            name = 'messages import'; family = 'change'; help = 'Send the messages of files'
            places = @('--file=files File of messages, or a folder with such files.')
            options = @('--file=files File of messages, or a folder with such files.', '--to-topic=topics Send to this topic; OLD is a topic in the files. Repeatable. Default: the same topic.', '--rate= Send at most N messages per second.', '--again Send also the messages that an earlier import sent.'); columns = 'file|topic|toTopic|messageCount|sentBefore|sent|failed|result|error|'
        }
        'delayedcancel' = @{
            name = 'delayed cancel'; family = 'change'; help = 'Cancel a timed message'
            places = @('-t,--topic=topics Name of a topic.', '-i,--msgId= The id of `delayed list`.')
            options = @('-t,--topic=topics Name of a topic.', '-i,--msgId= The id of `delayed list`.'); columns = 'msgId|topic|brokerName|brokerAddr|deliverTime|result|error|'
        }
        'benchproduce' = @{
            name = 'bench produce'; family = 'change'; help = 'Measure how many messages brokers store'
            places = @()
            options = @('-c,--cluster=clusters The cluster. Default: the only one.', '--count= Send N messages in all.', '--size= Size of each body.', '--queues= Queues of the topic on each broker.', '--rate= Send at most N messages per second.'); columns = 'brokerName|messageCount|bodyBytes|seconds|messagesPerSecond|bytesPerSecond|failed|result|error|'
        }
        'benchconsume' = @{
            name = 'bench consume'; family = 'change'; help = 'Measure how many messages a client reads'
            places = @()
            options = @('-c,--cluster=clusters The cluster. Default: the only one.', '--count= Write and read N messages in all.', '--size= Size of each body.', '--queues= Queues of the topic on each broker.'); columns = 'brokerName|messageCount|bodyBytes|seconds|messagesPerSecond|bytesPerSecond|failed|result|error|'
        }
        'benchlatency' = @{
            name = 'bench latency'; family = 'change'; help = 'Measure the latency of each broker'
            places = @()
            options = @('-c,--cluster=clusters The cluster. Default: the only one.', '--count= Send N messages to each broker.', '--size= Size of each body.', '--rate= Send N messages per second, one after another.'); columns = 'brokerName|kind|messageCount|p50|p90|p99|p999|max|failed|result|error|'
        }
        'dlqreplay' = @{
            name = 'dlq replay'; family = 'change'; help = 'Deliver dead letters to their group again'
            places = @('-g,--consumerGroup=groups Name of a consumer group.')
            options = @('-g,--consumerGroup=groups Name of a consumer group.', '--since= Only dead letters stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '--until= Only dead letters stored until this time.', '--origin=topics Only messages from this topic. Repeatable.', '--key= Only messages with this key. Repeatable.', '--tag= Only messages with this tag. Repeatable.', '--body= Only messages whose body matches somewhere, read as UTF-8.', '--id= Only the dead letter with this offsetMsgId of `dlq show`. Repeatable.', '--limit= Replay at most N.', '--rate= Replay at most N messages per second.', '--max-failures= Stop if more than N fail again.', '--settle= Count failures for this long after the last message.', '--to-topic Send to the origin topic, where every group gets the message.', '--again Replay also the messages that an earlier run replayed.', '--force Replay also messages that died again after 3 replays.'); columns = 'brokerName|group|deadLetters|examined|replayed|replayedBefore|copies|skipped|failed|failedAgain|result|error|originTopic|age|messageCount|'
        }
        'dlqpurge' = @{
            name = 'dlq purge'; family = 'change'; help = 'Delete the dead letters of a group'
            places = @('-g,--consumerGroup=groups Name of a consumer group.')
            options = @('-g,--consumerGroup=groups Name of a consumer group.', '--before= Delete dead letters before: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.'); columns = 'clusterName|group|topic|older|newer|notReplayed|result|error|'
        }
        'checkmsgsendrt' = @{
            name = 'checkMsgSendRT'; family = 'change'; help = 'Time test messages to a topic'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-a,--amount= Number of messages, sent one after another.', '-s,--size= Bytes of each body.'); columns = 'brokerName|brokerAddr|queueId|offsetMsgId|queueOffset|rt|result|error|'
        }
        'kvsync' = @{
            name = 'kv sync'; family = 'change'; help = 'Copy the KV config to the other name servers'
            places = @('--from=name-servers The name server to copy from.')
            options = @('--from=name-servers The name server to copy from.', '-s,--namespace=namespaces KV namespace. Default: ORDER_TOPIC_CONFIG. Repeatable.', '-k,--key= Only this key. Repeatable.', '--prune Delete keys that the source does not have.'); columns = 'namesrvAddr|namespace|key|changes|before|after|result|error|'
        }
        'kvimport' = @{
            name = 'kv import'; family = 'change'; help = 'Write a file''s KV config to every name server'
            places = @('--file=files A file from `nsadmin kv export`, or a name server''s file.')
            options = @('--file=files A file from `nsadmin kv export`, or a name server''s file.', '-s,--namespace=namespaces Only this namespace of the file. Repeatable.', '--prune Delete keys that the file does not have.'); columns = 'namesrvAddr|namespace|key|changes|before|after|result|error|'
        }
        'updatekvconfig' = @{
            name = 'updateKvConfig'; family = 'change'; help = 'Set a value of the KV config'
            places = @('-s,--namespace=namespaces Namespace, for example ORDER_TOPIC_CONFIG, whose keys are topics.', '-k,--key=kv-keys Key in the namespace.', '-v,--value= Text to store. May be empty.')
            options = @('-s,--namespace=namespaces Namespace, for example ORDER_TOPIC_CONFIG, whose keys are topics.', '-k,--key=kv-keys Key in the namespace.', '-v,--value= Text to store. May be empty.'); columns = 'namesrvAddr|namespace|key|changes|before|after|result|error|'
        }
        'deletekvconfig' = @{
            name = 'deleteKvConfig'; family = 'change'; help = 'Delete a value of the KV config'
            places = @('-s,--namespace=namespaces Namespace, for example ORDER_TOPIC_CONFIG, whose keys are topics.', '-k,--key=kv-keys Key in the namespace.')
            options = @('-s,--namespace=namespaces Namespace, for example ORDER_TOPIC_CONFIG, whose keys are topics.', '-k,--key=kv-keys Key in the namespace.'); columns = 'namesrvAddr|namespace|key|changes|before|after|result|error|'
        }
        'updatenamesrvconfig' = @{
            name = 'updateNamesrvConfig'; family = 'change'; help = 'Change a setting of name servers'
            places = @('-k,--key=namesrv-keys A setting that getNamesrvConfig shows.', '-v,--value= The new value.')
            options = @('-k,--key=namesrv-keys A setting that getNamesrvConfig shows.', '-v,--value= The new value.'); columns = 'namesrvAddr|key|changes|before|after|result|error|'
        }
        'apply' = @{
            name = 'apply'; family = 'change'; help = 'Change the cluster to match a file'
            places = @('--file=files A YAML file with the wanted state, or a saved plan.')
            options = @('--file=files A YAML file with the wanted state, or a saved plan.', '--prune Delete items that the file does not have, in the sections that it has.', '--max-deletes= Refuse the plan if it deletes more than N items. Default: 10.', '--allow-stranded Remove queues even if consumers have not read their messages.'); columns = 'kind|name|action|servers|changes|before|after|messages|result|error|'
        }
        'backuprestore' = @{
            name = 'backup restore'; family = 'change'; help = 'Create the items of a backup again'
            places = @('--file=files A file of `nsadmin backup create`.')
            options = @('--file=files A file of `nsadmin backup create`.', '-c,--clusterName=clusters Restore into this cluster. Default: its own.', '--map= Restore a broker of the backup to another one. Repeatable.', '--section=topics|staticTopics|groups|orderConf|kv|consumeModes|offsets|users|acls|accounts Restore only this section. Repeatable.', '-t,--topic=topics Restore only this topic and its offsets. Repeatable.', '-g,--groupName=groups Restore only this group and its offsets. Repeatable.', '--overwrite-offsets Move groups that have another offset, also backward.', '--passphrase-file=files File with the passphrase of the passwords. Default: the variable NSADMIN_BACKUP_PASSPHRASE.', '--verify-key=files Refuse a backup that was not signed with this key: a public Ed25519 key in PEM form.'); columns = 'section|server|name|changes|reason|before|after|result|error|'
        }
        'createuser' = @{
            name = 'createUser'; family = 'change'; help = 'Create a user'
            places = @('-u,--username= Name of the user.')
            options = @('-u,--username= Name of the user.', '-t,--userType=Normal|Super Normal: permissions come from ACLs. Super: all permissions.', '-p,--password= The password. Needs --passwordVisible.', '--passwordFile=files Read it from this file, which must be readable only by its owner.', '--passwordStdin Read it from a line of standard input.', '--passwordVisible Accept it on the command line, where other users of this machine can see it.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|username|changes|before|after|result|error|'
        }
        'updateuser' = @{
            name = 'updateUser'; family = 'change'; help = 'Change a user''s password, type or status'
            places = @('-u,--username= Name of the user.')
            options = @('-u,--username= Name of the user.', '-t,--userType=Normal|Super Normal: permissions come from ACLs. Super: all permissions.', '-s,--userStatus=enable|disable Whether the user can sign requests.', '-p,--password= The password. Needs --passwordVisible.', '--passwordPrompt Ask for a new password on the terminal.', '--passwordFile=files Read it from this file, which must be readable only by its owner.', '--passwordStdin Read it from a line of standard input.', '--passwordVisible Accept it on the command line, where other users of this machine can see it.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|username|changes|before|after|result|error|'
        }
        'copyuser' = @{
            name = 'copyUser'; family = 'change'; help = 'Copy users to other brokers'
            places = @('-f,--fromBroker= The broker to copy from: address or name.', '-t,--toBroker= The broker to copy to: address or name.')
            options = @('-f,--fromBroker= The broker to copy from: address or name.', '-t,--toBroker= The broker to copy to: address or name.', '-u,--usernames=columns Only these users.'); columns = 'brokerName|brokerId|brokerAddr|username|changes|before|after|result|error|'
        }
        'deleteuser' = @{
            name = 'deleteUser'; family = 'change'; help = 'Delete a user and its ACL'
            places = @('-u,--username= Name of the user.')
            options = @('-u,--username= Name of the user.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|username|changes|before|after|result|error|'
        }
        'createacl' = @{
            name = 'createAcl'; family = 'change'; help = 'Create an ACL'
            places = @('-s,--subject= The user: User:NAME or NAME.')
            options = @('-s,--subject= The user: User:NAME or NAME.', '-r,--resources=columns The resource: Topic:NAME, Group:NAME, Cluster:NAME, Namespace:NAME; Topic:PREFIX*, Topic:*, *.', '-a,--actions=columns The actions: All, Pub, Sub, Create, Update, Delete, Get, List.', '-d,--decision=Allow|Deny The decision: Allow or Deny.', '-i,--sourceIp=columns Only for clients at these addresses or networks (10.0.0.0/8).', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|subject|changes|before|after|result|error|'
        }
        'updateacl' = @{
            name = 'updateAcl'; family = 'change'; help = 'Change an ACL'
            places = @('-s,--subject= The user: User:NAME or NAME.')
            options = @('-s,--subject= The user: User:NAME or NAME.', '-r,--resources=columns The resource: Topic:NAME, Group:NAME, Cluster:NAME, Namespace:NAME; Topic:PREFIX*, Topic:*, *.', '-a,--actions=columns The actions: All, Pub, Sub, Create, Update, Delete, Get, List.', '-d,--decision=Allow|Deny The decision: Allow or Deny.', '-i,--sourceIp=columns Only for clients at these addresses or networks (10.0.0.0/8).', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|subject|changes|before|after|result|error|'
        }
        'copyacl' = @{
            name = 'copyAcl'; family = 'change'; help = 'Copy ACLs to other brokers'
            places = @('-f,--fromBroker= The broker to copy from: address or name.', '-t,--toBroker= The broker to copy to: address or name.')
            options = @('-f,--fromBroker= The broker to copy from: address or name.', '-t,--toBroker= The broker to copy to: address or name.', '-s,--subjects=columns Only the ACLs of these users.'); columns = 'brokerName|brokerId|brokerAddr|subject|changes|before|after|result|error|'
        }
        'deleteacl' = @{
            name = 'deleteAcl'; family = 'change'; help = 'Delete an ACL or parts of it'
            places = @('-s,--subject= The user: User:NAME or NAME.')
            options = @('-s,--subject= The user: User:NAME or NAME.', '-r,--resources=columns Delete only the entries for these resources. Default: the whole ACL.', '--policyType=Custom|Default Delete only entries of this policy type. Default: both types.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|subject|changes|before|after|result|error|'
        }
        'updateaclconfig' = @{
            name = 'updateAclConfig'; family = 'change'; help = 'Create or change an account (4.x)'
            places = @('-a,--accessKey= Access key of the account.')
            options = @('-a,--accessKey= Access key of the account.', '-s,--secretKey= The secret key. Needs --passwordVisible.', '-m,--admin=true|false Whether the account has all permissions.', '-w,--whiteRemoteAddress= Addresses from which requests need no signature: 10.0.0.*.', '-i,--defaultTopicPerm= Permission for topics that are not listed: DENY, PUB, SUB, PUB|SUB.', '-u,--defaultGroupPerm= Permission for groups that are not listed.', '-t,--topicPerms= Permissions by topic: orders=PUB|SUB,other=DENY.', '-g,--groupPerms= Permissions by group: shop=SUB.', '--secretKeyPrompt Ask for a secret key on the terminal.', '--passwordFile=files Read it from this file, which must be readable only by its owner.', '--passwordStdin Read it from a line of standard input.', '--passwordVisible Accept it on the command line, where other users of this machine can see it.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|accessKey|changes|before|after|result|error|'
        }
        'deleteaclconfig' = @{
            name = 'deleteAclConfig'; family = 'change'; help = 'Delete an account (4.x)'
            places = @('-a,--accessKey= Access key of the account.')
            options = @('-a,--accessKey= Access key of the account.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|accessKey|changes|before|after|result|error|'
        }
        'updateglobalwhiteaddr' = @{
            name = 'updateGlobalWhiteAddr'; family = 'change'; help = 'Set addresses that need no signature (4.x)'
            places = @('-g,--globalWhiteRemoteAddresses= Addresses such as 10.0.0.*,10.1.*.*.')
            options = @('-g,--globalWhiteRemoteAddresses= Addresses such as 10.0.0.*,10.1.*.*.', '-p,--aclFileFullPath= Write to this ACL file of the broker.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|changes|before|after|result|error|'
        }
        'updatecontrollerconfig' = @{
            name = 'updateControllerConfig'; family = 'change'; help = 'Change a setting of controllers'
            places = @('-k,--key= A setting that getControllerConfig shows.', '-v,--value= The new value.')
            options = @('-k,--key= A setting that getControllerConfig shows.', '-v,--value= The new value.', '-a,--controllerAddress= Controllers, as HOST:PORT;HOST:PORT.'); columns = 'controllerAddr|key|changes|before|after|result|error|'
        }
        'electmaster' = @{
            name = 'electMaster'; family = 'change'; help = 'Make a replica the master'
            places = @('-bn,--brokerName=brokers Name of a broker.', '-b,--brokerId= Id of the replica, from getSyncStateSet.')
            options = @('-bn,--brokerName=brokers Name of a broker.', '-b,--brokerId= Id of the replica, from getSyncStateSet.', '-a,--controllerAddress= Controllers, as HOST:PORT;HOST:PORT.', '-c,--clusterName=clusters Broker''s cluster.', '--force Elect the replica even if it lacks topics or groups of its master, or does not answer.'); columns = 'brokerName|changes|before|after|result|error|'
        }
        'cleanbrokermetadata' = @{
            name = 'cleanBrokerMetadata'; family = 'change'; help = 'Remove replicas from the controllers'
            places = @('-bn,--brokerName=brokers Name of a broker.')
            options = @('-bn,--brokerName=brokers Name of a broker.', '-a,--controllerAddress= Controllers, as HOST:PORT;HOST:PORT.', '-b,--brokerControllerIdsToClean= Only these replicas, as 1;2. Default: all.', '-c,--clusterName=clusters Cluster of the broker. Optional with -l.', '-l,--cleanLivingBroker Remove the whole broker, even if it is alive.'); columns = 'brokerName|changes|before|after|result|error|'
        }
        'exportpoprecord' = @{
            name = 'exportPopRecord'; family = 'change'; help = 'Move pop records to the message store'
            places = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters Every master and slave of this cluster.', '-d,--dryRun= Refused. Use --dry-run instead.'); columns = 'brokerName|brokerId|brokerAddr|changes|result|error|'
        }
        'updateorderconf' = @{
            name = 'updateOrderConf'; family = 'mixed'; help = 'Show or change a topic''s order config'
            places = @('-t,--topic=topics Name of a topic.', '-m,--method=get|put|delete get, put or delete.', '-v,--orderConf= For put: queues by broker, as broker-a:4;broker-b:8.')
            options = @('-t,--topic=topics Name of a topic.', '-m,--method=get|put|delete get, put or delete.', '-v,--orderConf= For put: queues by broker, as broker-a:4;broker-b:8.'); columns = 'namesrvAddr|topic|orderConf|result|error|changes|before|after|brokerAddr|'
        }
        'querymsgbyuniquekey' = @{
            name = 'queryMsgByUniqueKey'; family = 'mixed'; help = 'Find messages by the producer''s id'
            places = @('-t,--topic=topics Name of a topic.', '-i,--msgId= Message id from the producer''s log.')
            options = @('-t,--topic=topics Name of a topic.', '-i,--msgId= Message id from the producer''s log.', '-a,--showAll Accepted for mqadmin. nsadmin always shows all messages.', '-s,--startTime= Only messages stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '-e,--endTime= Only messages stored until this time.', '-c,--cluster=topics Ask the brokers of this topic or cluster instead.', '-g,--consumerGroup=groups With -d: deliver the message to this client of the group.', '-d,--clientId= With -g: a client id from consumerConnection.', '--decode= Decode bodies: base64, gzip, hex, json, avro[:SCHEMA], protobuf:FILE#TYPE. Repeatable.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tracks|brokerAddr|group|clientId|consumeResult|spentMs|result|error|'
        }
        'querymsgbyid' = @{
            name = 'queryMsgById'; family = 'mixed'; help = 'Find a message by an id of either kind'
            places = @('-t,--topic=topics Name of a topic.', '-i,--msgId= One or several ids of either kind: A,B.')
            options = @('-t,--topic=topics Name of a topic.', '-i,--msgId= One or several ids of either kind: A,B.', '-f,--bodyFormat= Encoding of the bodies. Default: UTF-8.', '-c,--cluster=topics Ask the brokers of this topic or cluster instead.', '-u,--unitName= Accepted for mqadmin, without effect.', '-g,--consumerGroup=groups With -d: deliver the message to this client of the group.', '-d,--clientId= With -g: a client id from consumerConnection.', '-s,--sendMessage=true|false true: send the message to its topic again.', '--decode= Decode bodies: base64, gzip, hex, json, avro[:SCHEMA], protobuf:FILE#TYPE. Repeatable.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tracks|brokerAddr|group|clientId|consumeResult|spentMs|result|error|costMs|'
        }
        'transfertopics' = @{
            name = 'transfer topics'; family = 'mixed'; help = 'Create topics in another cluster'
            places = @('-t,--topic=topics Topics, separated by commas. Default: all topics of users.')
            options = @('--from=contexts The source: a context, or name servers (HOST:PORT).', '--to=contexts The target: a context, or name servers (HOST:PORT).', '-t,--topic=topics Topics, separated by commas. Default: all topics of users.', '--from-cluster=clusters Cluster of the source. Default: its only one.', '--to-cluster=clusters Cluster of the target. Default: its only one.', '--map= Target broker NEW for source broker OLD. Repeatable.', '--all-brokers Every target broker gets the items of all source brokers.'); columns = 'section|server|name|changes|reason|before|after|result|error|'
        }
        'transfergroups' = @{
            name = 'transfer groups'; family = 'mixed'; help = 'Create groups in another cluster'
            places = @('-g,--groupName=groups Consumer groups, separated by commas. Default: all groups of users.')
            options = @('--from=contexts The source: a context, or name servers (HOST:PORT).', '--to=contexts The target: a context, or name servers (HOST:PORT).', '-g,--groupName=groups Consumer groups, separated by commas. Default: all groups of users.', '--from-cluster=clusters Cluster of the source. Default: its only one.', '--to-cluster=clusters Cluster of the target. Default: its only one.', '--map= Target broker NEW for source broker OLD. Repeatable.', '--all-brokers Every target broker gets the items of all source brokers.'); columns = 'section|server|name|changes|reason|before|after|result|error|'
        }
        'transferacl' = @{
            name = 'transfer acl'; family = 'mixed'; help = 'Create users and ACLs in another cluster'
            places = @()
            options = @('--from=contexts The source: a context, or name servers (HOST:PORT).', '--to=contexts The target: a context, or name servers (HOST:PORT).', '--from-cluster=clusters Cluster of the source. Default: its only one.', '--to-cluster=clusters Cluster of the target. Default: its only one.', '--map= Target broker NEW for source broker OLD. Repeatable.', '--all-brokers Every target broker gets the items of all source brokers.'); columns = 'section|server|name|changes|reason|before|after|result|error|'
        }
        'transfermessages' = @{
            name = 'transfer messages'; family = 'mixed'; help = 'Copy messages to another cluster'
            places = @('-t,--topic=topics Topics, separated by commas.')
            options = @('-t,--topic=topics Topics, separated by commas.', '--from=contexts The source: a context, or name servers (HOST:PORT).', '--to=contexts The target: a context, or name servers (HOST:PORT).', '--since= Only messages stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '-f,--follow Copy also the messages to come, until Ctrl-C.', '--rate= Copy at most N messages per second.', '--tag= Only messages with this tag. Repeatable.', '--sql= Only messages that this expression matches on the broker.', '--key= Only messages with this key. Repeatable.', '--property= Only messages with this property. Repeatable.', '--body= Only messages whose body matches somewhere.', '--map-topic= Name of a topic in the target. Repeatable.', '--merge-queues Let source queues share target queues if the target has fewer.'); columns = 'topic|brokerName|queueId|targetTopic|targetBroker|targetQueue|beginOffset|nextOffset|remaining|copied|skipped|lost|result|error|'
        }
        'transferoffsets' = @{
            name = 'transfer offsets'; family = 'mixed'; help = 'Move a group to copied messages'
            places = @('-g,--groupName=groups A consumer group.')
            options = @('-g,--groupName=groups A consumer group.', '--from=contexts The source: a context, or name servers (HOST:PORT).', '--to=contexts The target: a context, or name servers (HOST:PORT).', '--overwrite-offsets Move queues that have another offset, also backward.'); columns = 'topic|sourceOffsets|targetTopic|targetBroker|targetQueue|from|to|repeated|missed|result|error|'
        }
        'orphans' = @{
            name = 'orphans'; family = 'mixed'; help = 'Find leftover topics, and delete them'
            places = @()
            options = @('--clean Delete topics without a broker, and retry topics without a group.', '--dlq With --clean: also delete dead-letter topics without a group, with their messages.'); columns = 'kind|topic|finding|brokers|namesrvAddrs|group|target|role|changes|before|after|result|error|'
        }
        'rocksdbconfigtojson' = @{
            name = 'rocksDBConfigToJson'; family = 'mixed'; help = 'Export a RocksDB config store as JSON'
            places = @()
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--cluster,--clusterName=clusters Every master and slave of this cluster.', '-t,--configType= topics;subscriptionGroups;consumerOffsets, or some of them. With -p, one.', '-p,--configPath=folders A broker''s config folder on this machine.', '-e,--exportFile=files With -p: write to this file.', '-j,--jsonEnable=true|false With -p: false prints rows instead of JSON.'); columns = 'key|value|file|size|brokerName|brokerId|brokerAddr|changes|result|error|'
        }
        'backupshow' = @{
            name = 'backup show'; family = 'local'; help = 'Verify a backup and list its items'
            places = @('--file=files A file of `nsadmin backup create`.')
            options = @('--file=files A file of `nsadmin backup create`.', '--passphrase-file=files File with the passphrase of the passwords. Default: the variable NSADMIN_BACKUP_PASSPHRASE.', '--verify-key=files Refuse a backup that was not signed with this key: a public Ed25519 key in PEM form.'); columns = 'section|brokerName|name|value|'
        }
        'bundleshow' = @{
            name = 'bundle show'; family = 'local'; help = 'List the contents of a bundle, and its gaps'
            places = @('--file=files A file of `nsadmin bundle create`.')
            options = @('--file=files A file of `nsadmin bundle create`.'); columns = 'kind|item|count|reason|'
        }
        'bundlediff' = @{
            name = 'bundle diff'; family = 'local'; help = 'Compare two bundles'
            places = @('--file=files A file of `nsadmin bundle create`.', '--with= A later bundle.')
            options = @('--file=files A file of `nsadmin bundle create`.', '--with= A later bundle.'); columns = 'section|brokerName|name|differs|before|after|'
        }
        'snapshotshow' = @{
            name = 'snapshot show'; family = 'local'; help = 'Show the contents of a snapshot'
            places = @('--file=files A snapshot file.')
            options = @('--file=files A snapshot file.'); columns = 'what|name|brokerName|summary|value|'
        }
        'snapshotlist' = @{
            name = 'snapshot list'; family = 'local'; help = 'List the snapshots of a folder'
            places = @('--dir=folders Folder of the snapshots. Default: the current folder.')
            options = @('--dir=folders Folder of the snapshots. Default: the current folder.'); columns = 'file|time|nameServers|brokers|topics|kvEntries|size|'
        }
        'journalcat' = @{
            name = 'journal cat'; family = 'local'; help = 'Print the events of a journal'
            places = @('--dir=folders Folder of a journal.')
            options = @('--dir=folders Folder of a journal.', '--since= Only records since this time: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '--until= Only records before this time.'); columns = 'seq|time|server|type|summary|cause|client|event|'
        }
        'journaltail' = @{
            name = 'journal tail'; family = 'local'; help = 'Print the last events and follow'
            places = @('--dir=folders Folder of a journal.')
            options = @('--dir=folders Folder of a journal.', '-l,--lines= Number of records. Default: 10.', '-f,--follow Follow new records, until Ctrl-C.'); columns = 'seq|time|server|type|summary|cause|client|event|'
        }
        'journalstat' = @{
            name = 'journal stat'; family = 'local'; help = 'Count the events of a journal by type'
            places = @('--dir=folders Folder of a journal.')
            options = @('--dir=folders Folder of a journal.'); columns = 'type|records|plainSize|firstTime|lastTime|'
        }
        'journalverify' = @{
            name = 'journal verify'; family = 'local'; help = 'Check that a journal is complete'
            places = @('--dir=folders Folder of a journal.')
            options = @('--dir=folders Folder of a journal.'); columns = 'file|result|records|firstSeq|lastSeq|firstTime|lastTime|size|plainSize|problems|'
        }
        'auditlist' = @{
            name = 'audit list'; family = 'local'; help = 'List the changes that this account made'
            places = @()
            options = @('--since= Only commands since this time: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.'); columns = 'time|user|origin|context|nameServers|command|sent|results|exitCode|servers|'
        }
        'contextlist' = @{
            name = 'context list'; family = 'local'; help = 'List the saved contexts'
            places = @()
            options = @(); columns = 'name|current|namesrvAddr|configFile|endpoint|bundle|credentials|tls|timeout|retries|concurrency|output|addressMap|proxies|kube|ssh|journals|readOnly|color|'
        }
        'contextshow' = @{
            name = 'context show'; family = 'local'; help = 'Show a context'
            places = @('--name=contexts Name of a context.')
            options = @('--name=contexts Name of a context.'); columns = 'name|current|namesrvAddr|configFile|endpoint|bundle|credentials|tls|timeout|retries|concurrency|output|addressMap|proxies|kube|ssh|journals|readOnly|color|'
        }
        'contextuse' = @{
            name = 'context use'; family = 'local'; help = 'Choose the current context'
            places = @('--name=contexts Name of a context, or - for the previous one.')
            options = @('--name=contexts Name of a context, or - for the previous one.'); columns = 'name|current|namesrvAddr|configFile|endpoint|bundle|credentials|tls|timeout|retries|concurrency|output|addressMap|proxies|kube|ssh|journals|readOnly|color|'
        }
        'contextset' = @{
            name = 'context set'; family = 'local'; help = 'Create or change a context'
            places = @('--name=contexts Name of a context.')
            options = @('--name=contexts Name of a context.', '-n,--namesrvAddr=name-servers Its name servers, as HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files A properties file with the name servers, instead of -n.', '--endpoint= A URL that returns the name servers, instead of -n.', '--bundle=files A support bundle that is read in place of servers.', '--accessKey= Access key for signatures. nsadmin asks for the secret key.', '--secretKeyStdin Read the secret key from a line of standard input.', '--securityTokenStdin Read a security token from the next line.', '--credentials= Source of the credentials, instead of --accessKey: env, file:PATH, tools:PATH, keyring:NAME.', '--tls,--no-tls Use TLS or plain text.', '--tlsCa=files Certificate authorities to trust (PEM). Default: the system''s.', '--tlsCert=files The client''s certificate (PEM).', '--tlsKey=files The client''s key (PEM).', '--tlsKeyPasswordFrom= Source of the key''s password: env:NAME or file:PATH.', '--tlsKeyPasswordStdin Read the key''s password from the next line of standard input.', '--tlsServerName= The name that servers'' certificates must have.', '--verify,--insecure Whether to verify certificates. Without verification, signing commands also need --insecure.', '--addressMap= Replacement address of brokers, added to the map. Repeatable.', '--proxies=proxies Its proxies, at their remoting ports: HOST:8080;HOST:8080. Repeatable.', '--kube= Kubernetes namespace that kubectl reaches the servers in.', '--ssh= SSH host that connections lead through, instead of --kube.', '--journal=folders Folder of a name server''s journal. Repeatable.', '--timeout= Timeout of each request on each server.', '--retries= Retries of reads that got no answer.', '--concurrency= Number of servers asked at the same time.', '--defaultOutput=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Default output format.', '--readOnly,--writable Whether to refuse changes.', '--color=red|green|yellow|blue|magenta|cyan Color of the context''s name, such as red.', '--unset= Remove this field, such as timeout or tls.caFile. Repeatable.'); columns = 'name|current|namesrvAddr|configFile|endpoint|bundle|credentials|tls|timeout|retries|concurrency|output|addressMap|proxies|kube|ssh|journals|readOnly|color|'
        }
        'contextlogin' = @{
            name = 'context login'; family = 'local'; help = 'Store the credentials of a context'
            places = @('--name=contexts Name of a context.')
            options = @('--name=contexts Name of a context.', '--file= Store the credentials in this file, which only its owner can read.'); columns = 'name|current|namesrvAddr|configFile|endpoint|bundle|credentials|tls|timeout|retries|concurrency|output|addressMap|proxies|kube|ssh|journals|readOnly|color|'
        }
        'contextdelete' = @{
            name = 'context delete'; family = 'local'; help = 'Delete a context'
            places = @('--name=contexts Name of a context.')
            options = @('--name=contexts Name of a context.'); columns = 'name|current|namesrvAddr|configFile|endpoint|bundle|credentials|tls|timeout|retries|concurrency|output|addressMap|proxies|kube|ssh|journals|readOnly|color|'
        }
        'reportshow' = @{
            name = 'report show'; family = 'local'; help = 'Show a computed report'
            places = @('--report=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|proxy_health|route_as_of|data_quality|bronze/files|bronze/lines|silver/agreement_interval|silver/broker_lifecycle|silver/broker_runtime|silver/consumer_lag|silver/entry_interval|silver/knowledge_change|silver/knowledge_interval|silver/log_fact|silver/poll_fact|silver/quarantine|silver/route_interval|silver/stats_minute|silver/ns_event Name of a report or table.')
            options = @('--report=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|proxy_health|route_as_of|data_quality|bronze/files|bronze/lines|silver/agreement_interval|silver/broker_lifecycle|silver/broker_runtime|silver/consumer_lag|silver/entry_interval|silver/knowledge_change|silver/knowledge_interval|silver/log_fact|silver/poll_fact|silver/quarantine|silver/route_interval|silver/stats_minute|silver/ns_event Name of a report or table.', '--dir=folders The folder that report run --dir wrote.', '--since= First day (UTC), for example 2025-01-31.', '--until= Last day (UTC).', '--as-of= Read the tables as they were at this time: ISO 8601 (UTC without a zone), or 12h or 2d ago.', '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.'); columns = 'date|cluster|brokerName|brokerId|upSeconds|downSeconds|plannedSeconds|unknownSeconds|partialSeconds|availability|failures|mtbfSeconds|mttrSeconds|ts|endTs|ongoing|servers|outages|conflicts|longestSeconds|cause|server|outcome|method|client|closedTs|topics|closedTopics|heldSeconds|openedTs|openedTopics|openedType|openedCause|openedClient|seconds|causedBy|silentBrokers|topic|key|field|values|trigger|changes|unfinishedChanges|p50Seconds|p95Seconds|maxSeconds|change|bytes|days|bytesPerDay|lowBytesPerDay|highBytesPerDay|fullDate|earliestDate|latestDate|brokers|reason|knownSince|lastPut|source|puts|gets|putShare|getShare|fairShare|putRatio|skew|gini|queueSkew|skewedTopic|consumerGroup|samples|lastLag|minLag|maxLag|lagPerSecond|drainSeconds|stuck|trend|group|messagesIn|bytesIn|messagesOut|bytesOut|sentBack|putMillis|getMillis|behindSeconds|minutes|type|namespace|before|after|knownSeconds|starts|stops|pauses|failedPolls|eventsLost|repairs|decodeErrors|unparsedWarnings|scanGaps|longestPauseSeconds|longestScanGapSeconds|waterMarks|requests|clients|peakClients|clientsLeft|clientsLost|routeFailures|failedTopics|nameServerFailures|unreachableServers|syncFailures|requestErrors|responses|readQueueNums|writeQueueNums|perm|topicSysFlag|known|validFrom|fromType|fromCause|fromClient|kind|lines|quarantinedLines|quarantineShare|lateLines|gaps|lastTs|path|length|modified|file|line|hash|ingestTime|text|differ|isWatchChange|validTo|seq|time|brokerAddr|groups|pauseMillis|silentMillis|resumed|lost|observer|isLog|recordOrder|brokerVersion|bootTime|brokerActive|putTps|getTps|putTotal|getTotal|commitLogDiskRatio|commitLogMinOffset|commitLogMaxOffset|dispatchBehindBytes|sendQueueSize|sendQueueWaitMillis|pullQueueSize|pageCacheLockMillis|earliestMessageTime|queueCount|uncommittedQueues|brokerOffset|consumerOffset|lag|inflight|consumedTime|name|value|orderOffset|since|isRouteSource|toType|ok|error|polls|millis|toCause|toClient|broker|sum|'
        }
        'reportschema' = @{
            name = 'report schema'; family = 'local'; help = 'Show the columns of tables with units'
            places = @('--table=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|proxy_health|route_as_of|data_quality|bronze/files|bronze/lines|silver/agreement_interval|silver/broker_lifecycle|silver/broker_runtime|silver/consumer_lag|silver/entry_interval|silver/knowledge_change|silver/knowledge_interval|silver/log_fact|silver/poll_fact|silver/quarantine|silver/route_interval|silver/stats_minute|silver/ns_event Name of a report or table. Default: all of them.')
            options = @('--table=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|proxy_health|route_as_of|data_quality|bronze/files|bronze/lines|silver/agreement_interval|silver/broker_lifecycle|silver/broker_runtime|silver/consumer_lag|silver/entry_interval|silver/knowledge_change|silver/knowledge_interval|silver/log_fact|silver/poll_fact|silver/quarantine|silver/route_interval|silver/stats_minute|silver/ns_event Name of a report or table. Default: all of them.', '--dir=folders The folder that report run --dir wrote.', '--sql Print CREATE VIEW statements for DuckDB, also for former names.'); columns = 'table|column|type|unit|meaning|'
        }
        'reportexport' = @{
            name = 'report export'; family = 'local'; help = 'Write a table as CSV, Parquet or Excel'
            places = @('--report=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|proxy_health|route_as_of|data_quality|bronze/files|bronze/lines|silver/agreement_interval|silver/broker_lifecycle|silver/broker_runtime|silver/consumer_lag|silver/entry_interval|silver/knowledge_change|silver/knowledge_interval|silver/log_fact|silver/poll_fact|silver/quarantine|silver/route_interval|silver/stats_minute|silver/ns_event Name of a report or table.')
            options = @('--report=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|proxy_health|route_as_of|data_quality|bronze/files|bronze/lines|silver/agreement_interval|silver/broker_lifecycle|silver/broker_runtime|silver/consumer_lag|silver/entry_interval|silver/knowledge_change|silver/knowledge_interval|silver/log_fact|silver/poll_fact|silver/quarantine|silver/route_interval|silver/stats_minute|silver/ns_event Name of a report or table.', '--dir=folders The folder that report run --dir wrote.', '--to=files File that ends in .csv, .parquet or .xlsx. Required.', '--since= First day (UTC), for example 2025-01-31.', '--until= Last day (UTC).', '--as-of= Read the tables as they were at this time: ISO 8601 (UTC without a zone), or 12h or 2d ago.'); columns = ''
        }
        'reporthtml' = @{
            name = 'report html'; family = 'local'; help = 'Write all reports as one HTML page'
            places = @()
            options = @('--dir=folders The folder that report run --dir wrote.', '--since= First day (UTC), for example 2025-01-31.', '--until= Last day (UTC).', '--as-of= Read the tables as they were at this time: ISO 8601 (UTC without a zone), or 12h or 2d ago.', '--to=files Write to this file instead of stdout.', '--to-folder= Write index.html and a page for each cluster into this folder.'); columns = ''
        }
        'reportmarkdown' = @{
            name = 'report markdown'; family = 'local'; help = 'Write all reports as Markdown'
            places = @()
            options = @('--dir=folders The folder that report run --dir wrote.', '--since= First day (UTC), for example 2025-01-31.', '--until= Last day (UTC).', '--as-of= Read the tables as they were at this time: ISO 8601 (UTC without a zone), or 12h or 2d ago.', '--to=files Write to this file instead of stdout.'); columns = ''
        }
        'mqadminmap' = @{
            name = 'mqadminMap'; family = 'local'; help = 'Show the nsadmin command for an mqadmin command'
            places = @('--command=addBroker|addWritePerm|allocateMQ|brokerConsumeStats|brokerStatus|checkMsgSendRT|checkRocksdbCqWriteProgress|cleanBrokerMetadata|cleanExpiredCQ|cleanUnusedTopic|cloneGroupOffset|clusterAclConfigVersion|clusterList|clusterRT|consumeMessage|consumerConnection|consumerProgress|consumerStatus|copyAcl|copyUser|createAcl|createUser|deleteAcl|deleteAclConfig|deleteExpiredCommitLog|deleteKvConfig|deleteSubGroup|deleteTopic|deleteUser|dumpCompactionLog|electMaster|exportConfigs|exportMetadata|exportMetadataInRocksDB|exportMetrics|exportPopRecord|getAcl|getAclConfig|getBrokerConfig|getBrokerEpoch|getBrokerLiteInfo|getColdDataFlowCtrInfo|getConsumerConfig|getControllerConfig|getControllerMetaData|getLiteClientInfo|getLiteGroupInfo|getLiteTopicInfo|getNamesrvConfig|getParentTopicInfo|getSyncStateSet|getUser|haStatus|listAcl|listUser|printMsg|printMsgByQueue|producer|producerConnection|queryCq|queryMsgById|queryMsgByKey|queryMsgByOffset|queryMsgByUniqueKey|queryMsgTraceById|remappingStaticTopic|removeBroker|removeColdDataFlowCtrGroupConfig|resetMasterFlushOffset|resetOffsetByTime|rocksDBConfigToJson|sendMessage|sendMsgStatus|setCommitLogReadAheadMode|setConsumeMode|skipAccumulatedMessage|startMonitoring|statsAll|switchTimerEngine|topicClusterList|topicList|topicRoute|topicStatus|triggerLiteDispatch|updateAcl|updateAclConfig|updateBrokerConfig|updateColdDataFlowCtrGroupConfig|updateControllerConfig|updateGlobalWhiteAddr|updateKvConfig|updateNamesrvConfig|updateOrderConf|updateStaticTopic|updateSubGroup|updateSubGroupList|updateTopic|updateTopicList|updateTopicPerm|updateUser|wipeWritePerm A command of mqadmin. Default: all commands.')
            options = @('--command=addBroker|addWritePerm|allocateMQ|brokerConsumeStats|brokerStatus|checkMsgSendRT|checkRocksdbCqWriteProgress|cleanBrokerMetadata|cleanExpiredCQ|cleanUnusedTopic|cloneGroupOffset|clusterAclConfigVersion|clusterList|clusterRT|consumeMessage|consumerConnection|consumerProgress|consumerStatus|copyAcl|copyUser|createAcl|createUser|deleteAcl|deleteAclConfig|deleteExpiredCommitLog|deleteKvConfig|deleteSubGroup|deleteTopic|deleteUser|dumpCompactionLog|electMaster|exportConfigs|exportMetadata|exportMetadataInRocksDB|exportMetrics|exportPopRecord|getAcl|getAclConfig|getBrokerConfig|getBrokerEpoch|getBrokerLiteInfo|getColdDataFlowCtrInfo|getConsumerConfig|getControllerConfig|getControllerMetaData|getLiteClientInfo|getLiteGroupInfo|getLiteTopicInfo|getNamesrvConfig|getParentTopicInfo|getSyncStateSet|getUser|haStatus|listAcl|listUser|printMsg|printMsgByQueue|producer|producerConnection|queryCq|queryMsgById|queryMsgByKey|queryMsgByOffset|queryMsgByUniqueKey|queryMsgTraceById|remappingStaticTopic|removeBroker|removeColdDataFlowCtrGroupConfig|resetMasterFlushOffset|resetOffsetByTime|rocksDBConfigToJson|sendMessage|sendMsgStatus|setCommitLogReadAheadMode|setConsumeMode|skipAccumulatedMessage|startMonitoring|statsAll|switchTimerEngine|topicClusterList|topicList|topicRoute|topicStatus|triggerLiteDispatch|updateAcl|updateAclConfig|updateBrokerConfig|updateColdDataFlowCtrGroupConfig|updateControllerConfig|updateGlobalWhiteAddr|updateKvConfig|updateNamesrvConfig|updateOrderConf|updateStaticTopic|updateSubGroup|updateSubGroupList|updateTopic|updateTopicList|updateTopicPerm|updateUser|wipeWritePerm A command of mqadmin. Default: all commands.'); columns = 'mqadmin|nsadmin|status|since|note|'
        }
        'securityaudit' = @{
            name = 'securityAudit'; family = 'check'; help = 'List security risks and how to fix them'
            places = @()
            options = @('--warning= How many kinds of warnings to accept. Default: 0.', '--critical= How many kinds of critical findings to accept. Default: 0.'); columns = 'check|about|state|exitCode|time|summary|details|values|checks|'
        }
        'checkall' = @{
            name = 'check all'; family = 'check'; help = 'Run every check that applies'
            places = @()
            options = @('-t,--topic=topics Also check this topic. Repeatable.', '-g,--groupName=groups Also check the lag of this group. Repeatable.', '--expect=N|BROKERS|FILE The expected number of brokers; or the expected brokers, as broker-a,broker-b:1, a file with one broker per line, a plan, or a journal.', '--journal=folders Folder of a name server''s journal, or of `nsadmin collect`. Repeatable. Default: the context''s.', '--settle= If name servers differ, how long brokers may take to make them equal. Default: 50.', '--reports=folders Also check the tables that report run --dir wrote here.', '--warning= The warning limits of a check, such as lag=10000. Repeatable.', '--critical= The critical limits of a check, such as lag=500000. Repeatable.', '--skip=namesrv|brokers|divergence|writable|heartbeat|replicas|registrationSize|certificates|journal|drain|reports Skip this check. Repeatable.'); columns = 'check|about|state|exitCode|time|summary|details|values|checks|'
        }
        'checknamesrv' = @{
            name = 'check namesrv'; family = 'check'; help = 'Check that name servers answer'
            places = @()
            options = @('--warning= Name servers that may be down. Default: 0.', '--critical= Name servers that must serve. Default: 1: (at least one).'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkbrokers' = @{
            name = 'check brokers'; family = 'check'; help = 'Check that all brokers answer and have a master'
            places = @()
            options = @('--clusterName=clusters Only this cluster.', '--expect=N|BROKERS|FILE The expected number of brokers; or the expected brokers, as broker-a,broker-b:1, a file with one broker per line, a plan, or a journal.', '--warning= Brokers that may be down, or missing as masters. Default: 0.', '--critical= Broker names that may lack a master that answers. Default: 0.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkdivergence' = @{
            name = 'check divergence'; family = 'check'; help = 'Check that name servers agree'
            places = @()
            options = @('--settle= If name servers differ, how long brokers may take to make them equal. Default: 50.', '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.', '--warning= Differences to accept. Default: 0.', '--critical= Brokers and queues of topics that may differ. Default: 0.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checktopic' = @{
            name = 'check topic'; family = 'check'; help = 'Check that a topic is writable'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.', '--warning= Brokers of the topic that may refuse messages. Default: 0.', '--critical= Brokers of the topic that must accept messages. Default: 1: (at least one).'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkwritable' = @{
            name = 'check writable'; family = 'check'; help = 'Check that all topics are writable'
            places = @()
            options = @('--clusterName=clusters Only this cluster.', '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.', '--exclude= Skip topics whose names match this pattern.', '--warning= Topics that may be writable on only some of their brokers. Default: 0.', '--critical= Topics that may be unwritable. Default: 0.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checklag' = @{
            name = 'check lag'; family = 'check'; help = 'Check the backlog of a group'
            places = @('-g,--groupName=groups A consumer group.')
            options = @('-g,--groupName=groups A consumer group.', '-t,--topicName=topics Only this topic.', '--clusterName=clusters Only this cluster.', '--warning= Messages that the group may be behind. Default: 10000.', '--critical= Messages that the group may be behind. Default: 100000.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkclients' = @{
            name = 'check clients'; family = 'check'; help = 'Check the releases of connected clients'
            places = @()
            options = @('--min-version= The oldest accepted release. Default: 5.0.0.', '--clusterName=clusters Only this cluster.', '--warning= Clients that may be older. Default: 0.', '--critical= Clients that may be older. Default: 1000000.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkheartbeat' = @{
            name = 'check heartbeat'; family = 'check'; help = 'Check the age of broker heartbeats'
            places = @()
            options = @('--warning= Silence of a broker, in percent of its timeout. Default: 50.', '--critical= Silence of a broker, in percent of its timeout. Default: 75.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkregistrationsize' = @{
            name = 'check registrationSize'; family = 'check'; help = 'Check registrations against their limit'
            places = @()
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '--clusterName=clusters Only this cluster.', '--warning= Size of a registration, in percent of 16 MiB. Default: 50.', '--critical= Size of a registration, in percent of 16 MiB. Default: 80.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkcertificates' = @{
            name = 'check certificates'; family = 'check'; help = 'Check when certificates expire'
            places = @()
            options = @('--warning= Days until a certificate expires. Default: 30:.', '--critical= Days until a certificate expires. Default: 7:.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkjournal' = @{
            name = 'check journal'; family = 'check'; help = 'Check that journals grow and are complete'
            places = @()
            options = @('--journal=folders Folder of a name server''s journal, or of `nsadmin collect`. Repeatable. Default: the context''s.', '--since= Count losses since this time. Default: -24h. ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '--verify Verify every record of each journal, which takes longer.', '--warning= Age of the last record, in seconds. Default: 120.', '--critical= Age of the last record, in seconds. Default: 600.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkreplicas' = @{
            name = 'check replicas'; family = 'check'; help = 'Check that slaves can replace masters'
            places = @()
            options = @('--clusterName=clusters Only this cluster.', '--warning= Differences that slaves do not remove. Default: 0.', '--critical= Items that slaves may lack. Default: 0.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkreports' = @{
            name = 'check reports'; family = 'check'; help = 'Check that reports are fresh and complete'
            places = @()
            options = @('--dir=folders The folder that report run --dir wrote.', '--warning= Seconds since the last line was read. Default: 93600 (26 h).', '--critical= Seconds since the last line was read. Default: 180000 (50 h).'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkbackup' = @{
            name = 'check backup'; family = 'check'; help = 'Check that a backup is fresh and complete'
            places = @('--path= A backup, or a folder of `nsadmin backup create --dir`.')
            options = @('--path= A backup, or a folder of `nsadmin backup create --dir`.', '--clusterName=clusters Only the backups of this cluster in the folder.', '--warning= Age of the last backup in seconds. Default: 93600 (26 h).', '--critical= Age of the last backup in seconds. Default: 180000 (50 h).'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkdrain' = @{
            name = 'check drain'; family = 'check'; help = 'Check that drained brokers stay drained'
            places = @()
            options = @('--warning= Age of a drain, in seconds. Default: 86400 (one day).', '--critical= Topics on drained brokers that may be writable. Default: 0.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'kubedoctor' = @{
            name = 'kube doctor'; family = 'check'; help = 'Examine RocketMQ in a Kubernetes namespace'
            places = @()
            options = @('--warning= How many kinds of warnings to accept. Default: 0.', '--critical= How many kinds of critical findings to accept. Default: 0.'); columns = 'check|about|state|exitCode|time|summary|details|values|checks|'
        }
        'startmonitoring' = @{
            name = 'startMonitoring'; family = 'check'; help = 'Check all consumer groups repeatedly'
            places = @()
            options = @('--once Check once, and exit with the state.', '-i,--interval= Time between two checks.', '--clusterName=clusters Only this cluster.', '--warning= Messages that a group may be behind. Default: 10000.', '--critical= Messages that a group may be behind. Default: 100000.'); columns = 'check|about|state|exitCode|time|summary|details|values|checks|'
        }
        'reportrun' = @{
            name = 'report run'; family = 'program'; help = 'Compute reports from journals and logs'
            places = @()
            options = @('--input=folders read journals, or logs of Java servers, in this folder and below (may contain *); repeatable', '--source= the same, for the server NAME (''*=DIR/*/logs'': the first * is the name); repeatable', '--dir=folders folder of the tables and reports', '--since= report on events from this time on: ISO 8601 (UTC without a zone), 7d for a week ago (m, h, d, w), or ms since 1970', '--until= report on events before this time', '--reports= compute only these reports', '--max-quarantine= exit with code 3 if more than this share of the lines is unreadable: 1%, 0.01 (default: 1%)', '--keep= keep replaced rows readable for this time: 36h, 30d (default: 7d)', '--master= Spark master: local[4], spark://HOST:PORT, yarn (default: local[*])', '--conf= Spark setting, such as spark.driver.memory=4g; repeatable', '--compact then merge small files of the tables, up to 128 MiB'); columns = ''
        }
        'reportstream' = @{
            name = 'report stream'; family = 'program'; help = 'Compute reports continuously'
            places = @()
            options = @('--input=folders read journals, or logs of Java servers, in this folder and below (may contain *); repeatable', '--source= the same, for the server NAME (''*=DIR/*/logs'': the first * is the name); repeatable', '--dir=folders folder of the tables and reports', '--since= report on events from this time on: ISO 8601 (UTC without a zone), 7d for a week ago (m, h, d, w), or ms since 1970', '--until= report on events before this time', '--reports= compute only these reports', '--max-quarantine= exit with code 3 if more than this share of the lines is unreadable: 1%, 0.01 (default: 1%)', '--keep= keep replaced rows readable for this time: 36h, 30d (default: 7d)', '--master= Spark master: local[4], spark://HOST:PORT, yarn (default: local[*])', '--conf= Spark setting, such as spark.driver.memory=4g; repeatable', '--once process the existing data and exit, for cron', '--every= time between two checks for new data: 30s, 5m (default: 60s)'); columns = ''
        }
        'lab' = @{
            name = 'lab'; family = 'program'; help = 'Run a name server with simulated brokers'
            places = @('=up|run|list| ', '=acting-master|address-conflict|drift|flapping-broker|name-server-pause|name-server-waits|no-route|quiet-day|reconnect-storm|rolling-restart|split-brain|topic-explosion|undone-wipe| scenario to play: a built-in name or a YAML file; the cluster keeps running after its end')
            options = @('--clusters= clusters (2)', '--groups= broker groups in each cluster (3)', '--replicas= brokers in each group, master included (2)', '--topics= topics in each cluster, without system topics (40)', '--namesrvs= number of name servers (1)', '--scenario=acting-master|address-conflict|drift|flapping-broker|name-server-pause|name-server-waits|no-route|quiet-day|reconnect-storm|rolling-restart|split-brain|topic-explosion|undone-wipe| scenario to play: a built-in name or a YAML file; the cluster keeps running after its end', '--namesrv-port= port of the first name server, the others get the next ports; 0 selects free ports (0)', '--broker-port= port of the first broker, the others get every tenth port; 0 selects free ports (0)', '--no-context do not write the context "lab"', '-n,--namesrvAddr= register the brokers with these name servers (separated by ; or ,) and start none', '--speed= virtual seconds per real second at most, or max (up: 1, run: max)', '--dir=folders folder for journals and truth.jsonl (a temporary folder)', '--seed= seed of the random numbers that choose the topics and clients (1, or the scenario''s)', '--until= duration of the run (the scenario''s): 90s, 10m, 2h', '--java-logs=4.x|5.x| also write the logs that Java name servers of this release would write'); columns = ''
        }
        'namesrv' = @{
            name = 'namesrv'; family = 'program'; help = 'Run a name server'
            places = @()
            options = @('-c,--configFile=files configuration file (Java properties); UPDATE_NAMESRV_CONFIG writes to it', '-D= set any setting of docs/reference/configuration.md, such as -Dtls.server.mode=enforcing; the environment has the same settings, such as NAMESRV_TLS_SERVER_MODE=enforcing', '-p,--printConfigItem print the settings and exit; nsadmin''s own settings only if they are changed', '-n,--namesrvAddr= accepted for compatibility with mqnamesrv, has no effect', '--port= port to listen on (default: 9876); 0 selects a free port', '--bind= address to listen on (default: 0.0.0.0)', '--home=folders folder of kvConfig.json and namesrv.properties (default: ~/namesrv)', '--journal-dir=folders write a journal to this folder (default: journal/ in --home)', '--http= serve /metrics, /healthz, /readyz and /rocketmq/nsaddr on this port, without ADDR only on 127.0.0.1 (default: no HTTP port)', '--credentials=files access rules, see docs/how-to/secure-the-name-server.md (default: everything is allowed)', '--read-only refuse all changes by operators; brokers still register', '--no-remote-config refuse UPDATE_NAMESRV_CONFIG from every peer', '--log-format=text|json| format of the log on stderr (default: text)', '--log-level=DEBUG|INFO|WARN|ERROR| lowest level to log: DEBUG, INFO, WARN or ERROR (default: INFO); SIGUSR2 toggles DEBUG', '--no-journal write no journal'); columns = ''
        }
        'completion' = @{
            name = 'completion'; family = 'program'; help = 'Print the completion script of a shell'
            places = @('=bash|zsh|fish|powershell| name of the shell')
            options = @(); columns = ''
        }
        'tui' = @{
            name = 'tui'; family = 'screen'; help = 'Watch and operate the cluster in the terminal'
            places = @('--screen= The first screen. Default: home.')
            options = @('--screen= The first screen. Default: home.', '--interval= Time between two polls of a server. Default: 5.', '-s,--namespace= KV namespace to show in addition to ORDER_TOPIC_CONFIG. Repeatable.', '--journal=folders Journal to show events from. Default: the context''s. Repeatable.', '--read-only Refuse all changes.', '--record=files Record the session to this file, for --replay.', '--replay= Replay a recording, or a folder with journals.', '--speed= Replay N seconds per second. Default: 1.'); columns = ''
        }
        'mcp' = @{
            name = 'mcp'; family = 'screen'; help = 'Serve the commands as tools to MCP clients'
            places = @()
            options = @('--contexts= Contexts that the client can choose from, separated by commas. Default: the name servers of the command line.', '--tools= Only these tools: commands such as topicRoute, and categories of `nsadmin help` such as topics. Default: all.', '--files=folders Folder with backups, bundles and snapshots that the client may read.', '--allow-changes Also serve tools that plan changes, and a tool that executes plans.', '--time-limit= Time limit of a call that reads. Default: 2m.', '--max-calls= Commands that run at once. Default: 4.'); columns = ''
        }
        'batch' = @{
            name = 'batch'; family = 'batch'; help = 'Run many commands over the same connections'
            places = @('-f,--file=files A file of command lines. - is standard input.')
            options = @(); columns = ''
        }
        'audit' = @{
            name = 'audit'; family = 'group'; help = 'The record of changes made from this account'
            places = @('=list| ')
            options = @(); columns = ''
        }
        'backup' = @{
            name = 'backup'; family = 'group'; help = 'Backups of a cluster, and how to restore them'
            places = @('=create|show|diff|restore| ')
            options = @(); columns = ''
        }
        'bench' = @{
            name = 'bench'; family = 'group'; help = 'Throughput and latency of a cluster, measured with a bounded load'
            places = @('=produce|consume|latency| ')
            options = @(); columns = ''
        }
        'bundle' = @{
            name = 'bundle'; family = 'group'; help = 'Support bundles: the answers of a cluster in a file'
            places = @('=create|show|diff| ')
            options = @(); columns = ''
        }
        'check' = @{
            name = 'check'; family = 'group'; help = 'Checks for monitoring systems'
            places = @('=all|namesrv|brokers|divergence|topic|writable|lag|clients|heartbeat|registrationSize|certificates|journal|replicas|reports|backup|drain| ')
            options = @(); columns = ''
        }
        'client' = @{
            name = 'client'; family = 'group'; help = 'The clients that are connected to brokers and proxies'
            places = @('=list| ')
            options = @(); columns = ''
        }
        'context' = @{
            name = 'context'; family = 'group'; help = 'Clusters that you saved under a name'
            places = @('=list|show|use|set|login|delete| ')
            options = @(); columns = ''
        }
        'delayed' = @{
            name = 'delayed'; family = 'group'; help = 'Messages that brokers deliver later'
            places = @('=list|cancel| ')
            options = @(); columns = ''
        }
        'discovery' = @{
            name = 'discovery'; family = 'group'; help = 'The servers of a cluster, for other programs'
            places = @('=prometheus| ')
            options = @(); columns = ''
        }
        'dlq' = @{
            name = 'dlq'; family = 'group'; help = 'Dead letters: the messages that consumer groups failed to consume'
            places = @('=list|show|replay|purge| ')
            options = @(); columns = ''
        }
        'inventory' = @{
            name = 'inventory'; family = 'group'; help = 'The brokers that nsadmin expects'
            places = @('=list|forget|pin| ')
            options = @(); columns = ''
        }
        'journal' = @{
            name = 'journal'; family = 'group'; help = 'The journal of a name server: every change of its tables'
            places = @('=cat|tail|stat|verify| ')
            options = @(); columns = ''
        }
        'kube' = @{
            name = 'kube'; family = 'group'; help = 'RocketMQ in a Kubernetes namespace'
            places = @('=doctor| ')
            options = @(); columns = ''
        }
        'kv' = @{
            name = 'kv'; family = 'group'; help = 'The KV config of the name servers'
            places = @('=get|list|diff|sync|export|import| ')
            options = @(); columns = ''
        }
        'message' = @{
            name = 'message'; family = 'group'; help = 'One message'
            places = @('=track| ')
            options = @(); columns = ''
        }
        'messages' = @{
            name = 'messages'; family = 'group'; help = 'The messages of topics in files'
            places = @('=export|import| ')
            options = @(); columns = ''
        }
        'proxy' = @{
            name = 'proxy'; family = 'group'; help = 'The proxies of RocketMQ 5'
            places = @('=list| ')
            options = @(); columns = ''
        }
        'rebalance' = @{
            name = 'rebalance'; family = 'group'; help = 'Queues of topics moved between brokers: scale out, scale in, level the load'
            places = @('=plan|run|status| ')
            options = @(); columns = ''
        }
        'repair' = @{
            name = 'repair'; family = 'group'; help = 'Registrations that name servers and broker disagree about'
            places = @('=wipe|register| ')
            options = @(); columns = ''
        }
        'report' = @{
            name = 'report'; family = 'group'; help = 'Availability and drain reports from journals and logs'
            places = @('=run|stream|show|schema|export|html|markdown| ')
            options = @(); columns = ''
        }
        'route' = @{
            name = 'route'; family = 'group'; help = 'The route of a topic: why it is missing, and how it changed'
            places = @('=explain|at|diff| ')
            options = @(); columns = ''
        }
        'snapshot' = @{
            name = 'snapshot'; family = 'group'; help = 'The complete state of the name servers, saved in a file'
            places = @('=save|show|list| ')
            options = @(); columns = ''
        }
        'transfer' = @{
            name = 'transfer'; family = 'group'; help = 'A cluster''s contents copied to another cluster'
            places = @('=topics|groups|acl|messages|verify|offsets| ')
            options = @(); columns = ''
        }
        'help' = @{
            name = 'help'; family = 'help'; help = 'Help for a command or a group'
            places = @('=commands ')
            options = @(); columns = ''
        }
    }
    $families = @{
        'read' = @('--context=contexts Use the name servers, TLS settings and credentials of this context.', '--bundle=files Read this support bundle (nsadmin bundle create) instead of the servers.', '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.', '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.', '--proxies=proxies Also ask these proxies, at their remoting ports: HOST:8080;HOST:8080. Repeatable.', '--kube= Reach servers in this Kubernetes namespace through kubectl.', '--ssh= Reach servers through this SSH host: USER@HOST, USER@HOST:PORT or an alias of ssh_config.', '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.', '--tls,--no-tls Use TLS, or plain connections.', '--tlsCa=files Trust these CA certificates (PEM) instead of the system''s.', '--tlsCert=files Client certificate (PEM).', '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.', '--tlsServerName= Name that certificates of servers must contain.', '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.', '--timeout= Time limit of each request (default: 3).', '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).', '--concurrency= Number of servers to ask at the same time (default: 64).', '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Output format: table, wide, json, jsonl, yaml, csv, spreadsheet, tsv, name, value, mqadmin (default: table).', '--json Short for --output json.', '--no-headers Print tables, CSV and TSV without headings.', '--no-color Print no colours.', '--watch= Repeat the command at this interval until Ctrl-C.', '--columns=columns Print only these columns, in this order.', '--sort=columns Sort by these columns. Prefix one with - for descending order.', '--filter=columns Print only rows such as perm!=6, inTps>100 or topic~^order. Operators: = != < <= > >= ~ !~. Repeatable.', '--quiet Print nothing but errors on stderr.', '--debug Print each request, and tracebacks, on stderr.', '-h,--help Show this help.')
        'change' = @('--context=contexts Use the name servers, TLS settings and credentials of this context.', '--bundle=files Read this support bundle (nsadmin bundle create) instead of the servers.', '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.', '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.', '--proxies=proxies Also ask these proxies, at their remoting ports: HOST:8080;HOST:8080. Repeatable.', '--kube= Reach servers in this Kubernetes namespace through kubectl.', '--ssh= Reach servers through this SSH host: USER@HOST, USER@HOST:PORT or an alias of ssh_config.', '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.', '--tls,--no-tls Use TLS, or plain connections.', '--tlsCa=files Trust these CA certificates (PEM) instead of the system''s.', '--tlsCert=files Client certificate (PEM).', '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.', '--tlsServerName= Name that certificates of servers must contain.', '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.', '--timeout= Time limit of each request (default: 3).', '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).', '--concurrency= Number of servers to ask at the same time (default: 64).', '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Output format: table, wide, json, jsonl, yaml, csv, spreadsheet, tsv, name, value, mqadmin (default: table).', '--json Short for --output json.', '--no-headers Print tables, CSV and TSV without headings.', '--no-color Print no colours.', '--dry-run Show what would change, and change nothing.', '-y,--yes Change without asking for confirmation.', '--quiet Print nothing but errors on stderr.', '--debug Print each request, and tracebacks, on stderr.', '-h,--help Show this help.')
        'mixed' = @('--context=contexts Use the name servers, TLS settings and credentials of this context.', '--bundle=files Read this support bundle (nsadmin bundle create) instead of the servers.', '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.', '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.', '--proxies=proxies Also ask these proxies, at their remoting ports: HOST:8080;HOST:8080. Repeatable.', '--kube= Reach servers in this Kubernetes namespace through kubectl.', '--ssh= Reach servers through this SSH host: USER@HOST, USER@HOST:PORT or an alias of ssh_config.', '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.', '--tls,--no-tls Use TLS, or plain connections.', '--tlsCa=files Trust these CA certificates (PEM) instead of the system''s.', '--tlsCert=files Client certificate (PEM).', '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.', '--tlsServerName= Name that certificates of servers must contain.', '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.', '--timeout= Time limit of each request (default: 3).', '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).', '--concurrency= Number of servers to ask at the same time (default: 64).', '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Output format: table, wide, json, jsonl, yaml, csv, spreadsheet, tsv, name, value, mqadmin (default: table).', '--json Short for --output json.', '--no-headers Print tables, CSV and TSV without headings.', '--no-color Print no colours.', '--columns=columns Print only these columns, in this order.', '--sort=columns Sort by these columns. Prefix one with - for descending order.', '--filter=columns Print only rows such as perm!=6, inTps>100 or topic~^order. Operators: = != < <= > >= ~ !~. Repeatable.', '--dry-run Show what would change, and change nothing.', '-y,--yes Change without asking for confirmation.', '--quiet Print nothing but errors on stderr.', '--debug Print each request, and tracebacks, on stderr.', '-h,--help Show this help.')
        'local' = @('--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Output format: table, wide, json, jsonl, yaml, csv, spreadsheet, tsv, name, value, mqadmin (default: table).', '--json Short for --output json.', '--no-headers Print tables, CSV and TSV without headings.', '--no-color Print no colours.', '--watch= Repeat the command at this interval until Ctrl-C.', '--columns=columns Print only these columns, in this order.', '--sort=columns Sort by these columns. Prefix one with - for descending order.', '--filter=columns Print only rows such as perm!=6, inTps>100 or topic~^order. Operators: = != < <= > >= ~ !~. Repeatable.', '--quiet Print nothing but errors on stderr.', '--debug Print each request, and tracebacks, on stderr.', '-h,--help Show this help.')
        'check' = @('--context=contexts Use the name servers, TLS settings and credentials of this context.', '--bundle=files Read this support bundle (nsadmin bundle create) instead of the servers.', '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.', '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.', '--proxies=proxies Also ask these proxies, at their remoting ports: HOST:8080;HOST:8080. Repeatable.', '--kube= Reach servers in this Kubernetes namespace through kubectl.', '--ssh= Reach servers through this SSH host: USER@HOST, USER@HOST:PORT or an alias of ssh_config.', '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.', '--tls,--no-tls Use TLS, or plain connections.', '--tlsCa=files Trust these CA certificates (PEM) instead of the system''s.', '--tlsCert=files Client certificate (PEM).', '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.', '--tlsServerName= Name that certificates of servers must contain.', '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.', '--timeout= Time limit of each request (default: 3).', '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).', '--concurrency= Number of servers to ask at the same time (default: 64).', '--format=text|nagios|json|prometheus Output format (default: text). nagios is for plugins, prometheus for a textfile collector.', '--json Short for --format json.', '--output-file=files Write the result to this file, atomically, and nothing to stdout.', '--wait-until-ok= Repeat the check until it is OK, at most for this time: 90s, 5m, 1h.', '--quiet Print nothing but errors on stderr.', '--debug Print each request, and tracebacks, on stderr.', '-h,--help Show this help.')
        'program' = @('-h,--help show this help message and exit')
        'screen' = @('--context=contexts Use the name servers, TLS settings and credentials of this context.', '--bundle=files Read this support bundle (nsadmin bundle create) instead of the servers.', '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.', '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.', '--proxies=proxies Also ask these proxies, at their remoting ports: HOST:8080;HOST:8080. Repeatable.', '--kube= Reach servers in this Kubernetes namespace through kubectl.', '--ssh= Reach servers through this SSH host: USER@HOST, USER@HOST:PORT or an alias of ssh_config.', '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.', '--tls,--no-tls Use TLS, or plain connections.', '--tlsCa=files Trust these CA certificates (PEM) instead of the system''s.', '--tlsCert=files Client certificate (PEM).', '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.', '--tlsServerName= Name that certificates of servers must contain.', '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.', '--timeout= Time limit of each request (default: 3).', '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).', '--concurrency= Number of servers to ask at the same time (default: 64).', '--quiet Print nothing but errors on stderr.', '--debug Print each request, and tracebacks, on stderr.', '-h,--help Show this help.')
        'batch' = @('-f,--file=files A file of command lines. - is standard input.', '--stop-on-error Stop at the first command that fails.', '--context=contexts Use the name servers, TLS settings and credentials of this context.', '--bundle=files Read this support bundle (nsadmin bundle create) instead of the servers.', '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.', '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.', '--proxies=proxies Also ask these proxies, at their remoting ports: HOST:8080;HOST:8080. Repeatable.', '--kube= Reach servers in this Kubernetes namespace through kubectl.', '--ssh= Reach servers through this SSH host: USER@HOST, USER@HOST:PORT or an alias of ssh_config.', '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.', '--tls,--no-tls Use TLS, or plain connections.', '--tlsCa=files Trust these CA certificates (PEM) instead of the system''s.', '--tlsCert=files Client certificate (PEM).', '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.', '--tlsServerName= Name that certificates of servers must contain.', '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.', '--timeout= Time limit of each request (default: 3).', '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).', '--concurrency= Number of servers to ask at the same time (default: 64).', '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Output format: table, wide, json, jsonl, yaml, csv, spreadsheet, tsv, name, value, mqadmin (default: table).', '--json Short for --output json.', '--no-headers Print tables, CSV and TSV without headings.', '--no-color Print no colours.', '--dry-run Show what would change, and change nothing.', '-y,--yes Change without asking for confirmation.', '--quiet Print nothing but errors on stderr.', '--debug Print each request, and tracebacks, on stderr.', '-h,--help Show this help.')
        'group' = @()
        'help' = @()
        'front' = @('--context=contexts Use the name servers, TLS settings and credentials of this context.', '--bundle=files Read this support bundle (nsadmin bundle create) instead of the servers.', '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.', '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.', '--proxies=proxies Also ask these proxies, at their remoting ports: HOST:8080;HOST:8080. Repeatable.', '--kube= Reach servers in this Kubernetes namespace through kubectl.', '--ssh= Reach servers through this SSH host: USER@HOST, USER@HOST:PORT or an alias of ssh_config.', '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.', '--tls,--no-tls Use TLS, or plain connections.', '--tlsCa=files Trust these CA certificates (PEM) instead of the system''s.', '--tlsCert=files Client certificate (PEM).', '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.', '--tlsServerName= Name that certificates of servers must contain.', '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.', '--timeout= Time limit of each request (default: 3).', '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).', '--concurrency= Number of servers to ask at the same time (default: 64).', '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Output format: table, wide, json, jsonl, yaml, csv, spreadsheet, tsv, name, value, mqadmin (default: table).', '--json Short for --output json.', '--no-headers Print tables, CSV and TSV without headings.', '--no-color Print no colours.', '--watch= Repeat the command at this interval until Ctrl-C.', '--columns=columns Print only these columns, in this order.', '--sort=columns Sort by these columns. Prefix one with - for descending order.', '--filter=columns Print only rows such as perm!=6, inTps>100 or topic~^order. Operators: = != < <= > >= ~ !~. Repeatable.', '--quiet Print nothing but errors on stderr.', '--debug Print each request, and tracebacks, on stderr.', '-h,--help Show this help.', '--dry-run Show what would change, and change nothing.', '-y,--yes Change without asking for confirmation.', '--version Show the version and exit.')
    }

    function Offer([string]$value, [string]$text, [string]$head = '') {
        if (-not $text) { $text = $value }
        $full = $head + $value
        # Quote values with special characters. Typographic quotes also end a text, so double each of them.
        if ($full -match '[^\w\-./:=+]') {
            $full = "'" + ($full -replace '[''\u2018-\u201b]', '$0$0') + "'"
        }
        [System.Management.Automation.CompletionResult]::new($full, $value, 'ParameterValue', $text)
    }

    # An ordinal comparison, because a culture can ignore dashes.
    function Test-Start([string]$text, [string]$start) {
        $text.StartsWith($start, [System.StringComparison]::Ordinal)
    }

    # Returns the option of a flag that takes a value, and null for any other flag.
    function Find-Flag([string]$flag, $options) {
        foreach ($item in $options) {
            $spec = ($item -split ' ', 2)[0]
            $flags, $source = $spec -split '=', 2
            if ($null -ne $source -and ($flags -split ',') -ccontains $flag) { return $spec }
        }
    }

    function Offer-Paths([string]$typed, [string]$head, [string]$kind) {
        [System.Management.Automation.CompletionCompleters]::CompleteFilename($typed) |
            Where-Object { "$($_.ResultType)" -like $kind } |
            ForEach-Object { if ($head) { Offer $_.CompletionText $_.ToolTip $head } else { $_ } }
    }

    # Offers the values of a source.
    function Offer-Values([string]$source, [string]$typed, [string]$head) {
        switch -Wildcard -CaseSensitive ($source) {
            '' { return }
            'files' { Offer-Paths $typed $head '*'; return }
            'folders' { Offer-Paths $typed $head 'ProviderContainer'; return }
            'commands' {
                $commands.GetEnumerator() | Where-Object { $_.Value.name -notlike '* *' } |
                    Where-Object { $_.Key -like ($typed -replace '[-_]') + '*' } |
                    Sort-Object Key | ForEach-Object { Offer $_.Value.name $_.Value.help }
                return
            }
            'columns' {
                # Complete the last column of a list such as a,b or a,-b.
                $last = $typed -replace '^.*[,-]'
                $others = $typed.Substring(0, $typed.Length - $last.Length)
                $columns -split '[|]' | Where-Object { $_ -and (Test-Start $_ $last) } |
                    ForEach-Object { Offer $_ $_ "$head$others" }
                return
            }
            '*|*' {
                $source -split '[|]' | Where-Object { $_ -and (Test-Start $_ $typed) } |
                    ForEach-Object { Offer $_ $_ $head }
                return
            }
            default {
                # PowerShell before 7.3 drops empty arguments, hence the =.
                & $program complete described $source "=$typed" @before 2>$null | ForEach-Object {
                    $value, $text = $_ -split "`t", 2
                    Offer $value $text $head
                }
            }
        }
    }

    function Offer-Flags([string]$typed, $options) {
        foreach ($item in $options) {
            $spec, $text = $item -split ' ', 2
            foreach ($flag in ($spec -split '=', 2)[0] -split ',') {
                if (Test-Start $flag $typed) {
                    [System.Management.Automation.CompletionResult]::new($flag, $flag, 'ParameterName', $text)
                }
            }
        }
    }

    $typed = $wordToComplete.TrimStart("'", '"')
    $elements = @($commandAst.CommandElements | Where-Object { $_.Extent.EndOffset -lt $cursorPosition })
    $words = @($elements | ForEach-Object {
        # Without its quotes.
        if ($_ -is [System.Management.Automation.Language.StringConstantExpressionAst]) { $_.Value }
        else { $_.ToString() }
    })
    if (-not $words) { return }
    $program = if (Get-Command $words[0] -ErrorAction SilentlyContinue) { $words[0] } else { 'nsadmin' }
    $before = @($words | Select-Object -Skip 1)
    $places, $options, $columns, $command, $family = @(), $families['front'], '', $null, $null
    $given, $taken, $waiting = 0, @(), $null
    foreach ($word in $before) {
        if ($waiting) {
            $waiting = $null
        } elseif ($word -like '-?*') {
            $taken += ($word -split '=', 2)[0]
            if (-not $word.Contains('=')) { $waiting = Find-Flag $word $options }
        } elseif ($null -eq $command -or $family -eq 'group') {
            $command += $word
            $found = $commands[$command -replace '[-_]']
            $family = $found.family
            if ($found) {
                $places, $columns = $found.places, $found.columns
                $options = @($found.options) + @($families[$found.family])
            } else {
                $places, $options, $columns = @(), @(), ''
            }
        } else {
            $given++
        }
    }

    if ($waiting) {
        Offer-Values ($waiting -split '=', 2)[1] $typed ''
    } elseif ($typed -like '--*=*') {
        $flag, $value = $typed -split '=', 2
        $spec = Find-Flag $flag $options
        if ($spec) { Offer-Values ($spec -split '=', 2)[1] $value "$flag=" }
    } elseif ($typed -like '-*') {
        Offer-Flags $typed $options
    } elseif ($null -eq $command) {
        Offer-Values 'commands' $typed ''
    } else {
        foreach ($item in $places) {
            $flags, $source = ($item -split ' ', 2)[0] -split '=', 2
            if ($flags -split ',' | Where-Object { $_ -and $taken -ccontains $_ }) { continue }
            if ($given -gt 0) { $given--; continue }
            Offer-Values $source $typed ''
            return
        }
        if (-not $typed) { Offer-Flags '' $options }
    }
}
