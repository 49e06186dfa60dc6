# PowerShell completion for nsadmin, rendered from its commands

Register-ArgumentCompleter -Native -CommandName nsadmin -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # The places, options and columns of each command. Each option is FLAGS, or FLAGS=SOURCE if it takes a
    # value, then a blank and its help.
    $commands = @{
        'clusterlist' = @{
            name = 'clusterList'; family = 'read'; help = 'List brokers with their load and state'
            places = @('-c,--clusterName=clusters Only this cluster.')
            options = @('-c,--clusterName=clusters Only this cluster.', '-m,--moreStats Messages in and out, yesterday and today, instead of load.', '-i,--interval= Again and again, until Ctrl-C.', '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.'); columns = 'clusterName|brokerName|brokerId|brokerAddr|version|inTps|outTps|sendThreadPoolQueueSize|sendThreadPoolQueueHeadWaitTimeMills|pullThreadPoolQueueSize|pullThreadPoolQueueHeadWaitTimeMills|ackThreadPoolQueueSize|ackThreadPoolQueueHeadWaitTimeMills|timerReadBehind|timerOffsetBehind|timerCongestNum|timerEnqueueTps|timerDequeueTps|pageCacheLockTimeMills|hour|commitLogDiskRatio|brokerActive|reachable|error|inTotalYest|outTotalYest|inTotalToday|outTotalToday|'
        }
        'brokerstatus' = @{
            name = 'brokerStatus'; family = 'read'; help = 'Show all runtime figures of a broker'
            places = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerAddr|key|value|'
        }
        'hastatus' = @{
            name = 'haStatus'; family = 'read'; help = 'Show how far slaves are behind their master'
            places = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.', '-i,--interval= Again and again, until Ctrl-C.'); columns = 'brokerName|brokerId|brokerAddr|role|commitLogMaxOffset|inSyncSlaveNums|slaveAddr|slaveAckOffset|diff|inSync|transferFromWhere|masterAddr|masterFlushOffset|transferredByteInSecond|lastRead|lastWrite|error|'
        }
        'getbrokerconfig' = @{
            name = 'getBrokerConfig'; family = 'read'; help = 'Show the settings of brokers'
            places = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|key|value|'
        }
        'configdiff' = @{
            name = 'configDiff'; family = 'read'; help = 'Compare settings across brokers and with defaults'
            places = @()
            options = @('-c,--clusterName=clusters Of brokers, those of this cluster.', '--brokers Only brokers.', '--namesrvs Only name servers.', '--default Instead, what is not the default of the server''s release.', '--own Names, addresses, ports and paths too.'); columns = 'kind|key|differs|default|values|'
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
            places = @('-b,--brokers=brokers Brokers, as broker-a,broker-b:1; a file with one in each line; a plan; a journal.')
            options = @('-b,--brokers=brokers Brokers, as broker-a,broker-b:1; a file with one in each line; a plan; a journal.', '--unpin Drop them after 7 days again, if no name server lists them.'); columns = 'brokerName|brokerId|result|'
        }
        'checkrocksdbcqwriteprogress' = @{
            name = 'checkRocksdbCqWriteProgress'; family = 'read'; help = 'Compare file and RocksDB queues'
            places = @('-c,--cluster=clusters Every master of it.')
            options = @('-c,--cluster=clusters Every master of it.', '-t,--topic=topics Only this topic.', '-cf,--checkFrom= Of messages stored since; 30 days ago if left out.'); columns = 'brokerName|brokerId|brokerAddr|checkStatus|result|error|'
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
        'topiclist' = @{
            name = 'topicList'; family = 'read'; help = 'List topics'
            places = @()
            options = @('-c,--clusterModel With the clusters of each topic and its consumer groups.', '--system,--no-system Show or hide the topics that RocketMQ has for itself.', '--cluster=clusters Only its topics.'); columns = 'topic|clusterName|consumerGroups|'
        }
        'topicroute' = @{
            name = 'topicRoute'; family = 'read'; help = 'Show the brokers and queues of a topic'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '--raw The JSON as the name server sent it.', '-l,--list Accepted from mqadmin: rows are the rule.'); columns = 'topic|brokerName|clusterName|brokerAddrs|perm|readQueueNums|writeQueueNums|topicSysFlag|logicalQueues|'
        }
        'topicstatus' = @{
            name = 'topicStatus'; family = 'read'; help = 'Show the offsets of a topic''s queues'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-c,--cluster=clusters Ask the brokers of this cluster (or topic) about a topic without a route of its own.'); columns = 'topic|brokerName|brokerAddr|queueId|minOffset|maxOffset|lastUpdated|topicPutTps|error|'
        }
        'topicclusterlist' = @{
            name = 'topicClusterList'; family = 'read'; help = 'List the clusters of a topic'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.'); columns = 'clusterName|'
        }
        'statsall' = @{
            name = 'statsAll'; family = 'read'; help = 'Show the traffic of topics and groups'
            places = @('-t,--topic=topics Only this topic.')
            options = @('-t,--topic=topics Only this topic.', '-a,--activeTopic Only what had a message in the last 24 hours.'); columns = 'topic|consumerGroup|accumulation|inTps|outTps|inMsg24Hour|outMsg24Hour|error|'
        }
        'routeexplain' = @{
            name = 'route explain'; family = 'read'; help = 'Explain "No route info of this topic"'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-c,--clusterName=clusters Where the client should find it.', '-b,--brokerAddr=addresses A broker that should have it, if no name server knows that broker. Repeatable.', '--client= The name servers of the client, as its configuration has them: they are asked as well.', '--zone= The client''s zone (rocketmq.zone), if it has one.', '--contexts Look for the topic in all other contexts too.', '--journal=folders A name server''s journal, or the folder of collect. Repeatable. Default: the context''s.', '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.'); columns = 'step|result|namesrvAddrs|brokerName|brokerAddr|seen|next|command|'
        }
        'allocatemq' = @{
            name = 'allocateMQ'; family = 'read'; help = 'Show which client gets which queues'
            places = @('-t,--topic=topics Name of a topic.', '-i,--ipList= Client ids, or what stands for them: a,b,c.')
            options = @('-t,--topic=topics Name of a topic.', '-i,--ipList= Client ids, or what stands for them: a,b,c.'); columns = 'clientId|topic|brokerName|queueId|'
        }
        'getbrokerliteinfo' = @{
            name = 'getBrokerLiteInfo'; family = 'read'; help = 'Show the lite topics of brokers'
            places = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--cluster=clusters Every master of it.', '-d,--showDetail Parent topics and their groups in the table, too.'); columns = 'brokerName|brokerId|brokerAddr|storeType|maxLmqNum|currentLmqNum|liteSubscriptionCount|orderInfoCount|cqTableSize|offsetTableSize|eventMapSize|topicMeta|groupMeta|error|'
        }
        'getparenttopicinfo' = @{
            name = 'getParentTopicInfo'; family = 'read'; help = 'Count the lite topics of a parent topic'
            places = @('-p,--parentTopic=topics The parent topic.')
            options = @('-p,--parentTopic=topics The parent topic.'); columns = 'brokerName|brokerAddr|ttl|liteTopicCount|lmqNum|groups|error|'
        }
        'getlitetopicinfo' = @{
            name = 'getLiteTopicInfo'; family = 'read'; help = 'Show offsets and subscribers of a lite topic'
            places = @('-p,--parentTopic=topics The parent topic.', '-l,--liteTopic= The lite topic.')
            options = @('-p,--parentTopic=topics The parent topic.', '-l,--liteTopic= The lite topic.', '-s,--showClientId Who subscribes in the table, too.'); columns = 'brokerName|brokerAddr|minOffset|maxOffset|lastUpdated|shardingToBroker|subscriberCount|subscribers|error|'
        }
        'getliteclientinfo' = @{
            name = 'getLiteClientInfo'; family = 'read'; help = 'List the lite topics of a client'
            places = @('-p,--parentTopic=topics The parent topic.', '-g,--group=groups The consumer group.', '-c,--clientId= The client''s id.')
            options = @('-p,--parentTopic=topics The parent topic.', '-g,--group=groups The consumer group.', '-c,--clientId= The client''s id.', '-s,--showDetail Its lite topics in the table, too.'); columns = 'brokerName|brokerAddr|liteTopicCount|lastAccessTime|lastConsumeTime|liteTopics|error|'
        }
        'getlitegroupinfo' = @{
            name = 'getLiteGroupInfo'; family = 'read'; help = 'Show a group''s backlog on lite topics'
            places = @('-p,--parentTopic=topics The parent topic.', '-g,--group=groups The consumer group.')
            options = @('-p,--parentTopic=topics The parent topic.', '-g,--group=groups The consumer group.', '-l,--liteTopic= Only this lite topic.', '-k,--topK= So many that are furthest behind.'); columns = 'brokerName|brokerAddr|liteTopic|brokerOffset|consumerOffset|lagCount|earliestUnconsumedTime|lastTime|error|'
        }
        'consumerprogress' = @{
            name = 'consumerProgress'; family = 'read'; help = 'Show the backlog of one group or of all'
            places = @('-g,--groupName=groups A consumer group; all if left out.')
            options = @('-g,--groupName=groups A consumer group; all if left out.', '-t,--topicName=topics Only this topic of the group.', '-s,--showClientIP=true|false Ask the clients whose queue is whose.', '-c,--cluster=clusters Ask only the brokers of this cluster.', '--system Without GROUP: also the groups that brokers make for themselves.', '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.'); columns = 'group|topic|brokerName|queueId|brokerOffset|consumerOffset|diff|inflight|lastTime|clientId|brokerAddr|error|count|version|consumeType|messageModel|tps|diffTotal|inflightTotal|'
        }
        'consumerconnection' = @{
            name = 'consumerConnection'; family = 'read'; help = 'List a group''s clients and subscriptions'
            places = @('-g,--consumerGroup=groups A consumer group.')
            options = @('-g,--consumerGroup=groups A consumer group.', '-b,--brokerAddr=addresses Ask only this broker: address, NAME or NAME/ID.', '-c,--cluster=clusters Ask only the brokers of this cluster.'); columns = 'group|clientId|clientAddr|language|version|consumeType|messageModel|consumeFromWhere|subscriptions|brokerAddrs|'
        }
        'consumerstatus' = @{
            name = 'consumerStatus'; family = 'read'; help = 'Show the state of a group''s clients'
            places = @('-g,--consumerGroup=groups A consumer group.')
            options = @('-g,--consumerGroup=groups A consumer group.', '-i,--clientId= Only this client of it.', '-b,--brokerAddr=addresses Only clients of the broker there.', '-s,--jstack The stacks of the clients'' threads, instead of rows.', '-c,--cluster=clusters Ask only the brokers of this cluster.'); columns = 'group|clientId|version|language|startTime|topic|brokerName|queueId|commitOffset|cachedMsgCount|cachedMsgSizeInMiB|lastPullTime|lastConsumeTime|waitAckCount|lastPopTime|locked|dropped|consumeOKTPS|consumeFailedTPS|consumeRT|pullTPS|pullRT|subscriptions|properties|error|'
        }
        'brokerconsumestats' = @{
            name = 'brokerConsumeStats'; family = 'read'; help = 'Show the backlog of all groups on a broker'
            places = @('-b,--brokerAddr=addresses One broker: address, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: address, NAME or NAME/ID.', '-t,--timeoutMillis= How long the broker may take.', '-l,--level= Only queues that are this far behind.', '-o,--order=true|false true: only ordered topics.'); columns = 'topic|group|brokerName|queueId|brokerOffset|consumerOffset|diff|lastTime|'
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
        'producer' = @{
            name = 'producer'; family = 'read'; help = 'List producers'
            places = @('-b,--broker=addresses One broker: address, NAME or NAME/ID; all if left out.')
            options = @('-b,--broker=addresses One broker: address, NAME or NAME/ID; all if left out.', '--internal,--no-internal Show or hide CLIENT_INNER_PRODUCER.'); columns = 'producerGroup|clientId|clientAddr|language|version|lastUpdated|brokerAddr|'
        }
        'producerconnection' = @{
            name = 'producerConnection'; family = 'read'; help = 'List the clients of a producer group'
            places = @('-g,--producerGroup=producer-groups A producer group.', '-t,--topic=topics Ask only the brokers that have this topic.')
            options = @('-g,--producerGroup=producer-groups A producer group.', '-t,--topic=topics Ask only the brokers that have this topic.'); columns = 'producerGroup|clientId|clientAddr|language|version|brokerAddrs|'
        }
        'querymsgbykey' = @{
            name = 'queryMsgByKey'; family = 'read'; help = 'Find messages by key'
            places = @('-t,--topic=topics Name of a topic.', '-k,--msgKey= One of the keys of a message.')
            options = @('-t,--topic=topics Name of a topic.', '-k,--msgKey= One of the keys of a message.', '-b,--beginTimestamp= Stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '-e,--endTimestamp= Stored until, likewise.', '-m,--maxNum= The newest N messages.', '-p,--keyType=K|T K: a key; T: a tag, with a RocksDB index only.', '-l,--lastKey= Go on behind this indexKey, with a RocksDB index.', '-c,--cluster=topics Ask the brokers of this topic or cluster instead.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|indexKey|'
        }
        'querymsgbyoffset' = @{
            name = 'queryMsgByOffset'; family = 'read'; help = 'Show the message at an offset of a queue'
            places = @('-t,--topic=topics Name of a topic.', '-b,--brokerName=brokers Name of a broker.', '-i,--queueId= Number of a queue, from 0.', '-o,--offset= Place in the queue.')
            options = @('-t,--topic=topics Name of a topic.', '-b,--brokerName=brokers Name of a broker.', '-i,--queueId= Number of a queue, from 0.', '-o,--offset= Place in the queue.', '-f,--bodyFormat= Read bodies in this encoding, not in UTF-8.', '-r,--routeTopic=topics Ask the broker of this topic instead.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tracks|'
        }
        'querymsgtracebyid' = @{
            name = 'queryMsgTraceById'; family = 'read'; help = 'Show who sent and who consumed a message'
            places = @('-i,--msgId= The id that a producer has in its log.')
            options = @('-i,--msgId= The id that a producer has in its log.', '-t,--traceTopic=topics Where the traces are.', '-b,--beginTimestamp= Traces since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '-e,--endTimestamp= Traces until, likewise.', '-c,--maxNum= Look at so many trace messages of each broker.'); columns = 'type|group|clientHost|time|costMs|status|topic|msgId|offsetMsgId|tags|keys|storeHost|messageType|retryTimes|requestId|transactionId|'
        }
        'printmsg' = @{
            name = 'printMsg'; family = 'read'; help = 'Print the messages of a topic'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-c,--charsetName= Read bodies in this encoding, not in UTF-8.', '-s,--subExpression= Only messages with a tag of these: A || B.', '-b,--beginTimestamp= Stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '-e,--endTimestamp= Stored until, likewise.', '-d,--printBody=true|false Whether with bodies; true.', '-l,--lmqParentTopic=topics Ask the brokers of this topic instead.', '--maxNum= Stop after so many messages.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|'
        }
        'printmsgbyqueue' = @{
            name = 'printMsgByQueue'; family = 'read'; help = 'Print the messages of one queue, or count tags'
            places = @('-t,--topic=topics Name of a topic.', '-a,--brokerName=brokers Name of a broker.', '-i,--queueId= Number of a queue, from 0.')
            options = @('-t,--topic=topics Name of a topic.', '-a,--brokerName=brokers Name of a broker.', '-i,--queueId= Number of a queue, from 0.', '-c,--charsetName= Read bodies in this encoding, not in UTF-8.', '-s,--subExpression= Only messages with a tag of these: A || B.', '-b,--beginTimestamp= Stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '-e,--endTimestamp= Stored until, likewise.', '-p,--print=true|false Whether messages are shown; true unless -f is.', '-d,--printBody=true|false Whether with bodies; false.', '-f,--calculate=true|false Count messages by tag; false. Has no bound.', '--maxNum= Stop after so many messages.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tag|count|'
        }
        'consumemessage' = @{
            name = 'consumeMessage'; family = 'read'; help = 'Print messages from an offset or a time on'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-b,--brokerName=brokers Only queues of this broker.', '-i,--queueId= With -b: only this queue.', '-o,--offset= With -i: from there on.', '-g,--consumerGroup=groups Is left alone: see above.', '-s,--beginTimestamp= Stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '-e,--endTimestamp= Stored until, likewise.', '-c,--MessageNumber= Stop after so many messages.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|'
        }
        'messagetrack' = @{
            name = 'message track'; family = 'read'; help = 'Show the story of one message'
            places = @('-t,--topic=topics Name of a topic.', '-i,--msgId= An id of either kind.')
            options = @('-t,--topic=topics Name of a topic.', '-i,--msgId= An id of either kind.'); columns = 'time|step|group|detail|topic|brokerName|queueId|queueOffset|offsetMsgId|'
        }
        'consume' = @{
            name = 'consume'; family = 'read'; help = 'Print the messages of a topic, also those to come'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '--from= earliest, latest, offset:N or a time; latest with --follow, else earliest.', '--until= Only messages stored until: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '-f,--follow Print also the messages to come, until Ctrl-C.', '--limit= Stop after N messages.', '-b,--broker=brokers Only queues of this broker.', '-i,--queue= Only queues with this id.', '--tag= Only messages with this tag. Repeatable.', '--sql= Only messages that this expression matches on the broker.', '--key= Only messages with this key. Repeatable.', '--property= Only messages with this property. Repeatable.', '--body= Only messages whose body matches somewhere.', '--field= Only messages whose JSON body has this value, such as order.id=7. Repeatable.', '--format= A line for each message, such as ''{storeTime} {body}''.', '--decode= Decode bodies: base64, gzip, json, hex. Repeatable, in this order.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|'
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
            options = @('-g,--consumerGroup=groups Name of a consumer group.', '--since= Only dead letters stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '--until= Only dead letters stored until this time.', '--origin=topics Only messages from this topic. Repeatable.', '--key= Only messages with this key. Repeatable.', '--tag= Only messages with this tag. Repeatable.', '--body= Only messages whose body matches somewhere, read as UTF-8.', '--limit= Stop after N messages; 128 by default, all with --export.', '--export=files Write a line of JSON for each message here.'); columns = 'msgId|originTopic|originMsgId|keys|tags|attempts|replays|storeTime|ageMs|brokerName|queueId|queueOffset|offsetMsgId|bornTime|bornHost|storeSize|properties|body|bodyEncoding|bodyError|file|messageCount|'
        }
        'querycq' = @{
            name = 'queryCq'; family = 'read'; help = 'Show entries of a consume queue'
            places = @('-t,--topic=topics Name of a topic.', '-q,--queue= Number of a queue, from 0.', '-i,--index= The first entry, by its place in the queue.')
            options = @('-t,--topic=topics Name of a topic.', '-q,--queue= Number of a queue, from 0.', '-i,--index= The first entry, by its place in the queue.', '-c,--count= So many entries at most.', '-b,--broker=addresses Only this broker: address, NAME or NAME/ID.', '-g,--consumer=groups Whether the filter of this group takes each of them.'); columns = 'brokerName|brokerAddr|topic|queueId|queueOffset|physicalOffset|storeSize|tagsCode|extendData|bitMap|eval|msg|'
        }
        'dumpcompactionlog' = @{
            name = 'dumpCompactionLog'; family = 'read'; help = 'Print the messages of a compaction log file'
            places = @('-f,--file=files A file of a broker, read here.')
            options = @('-f,--file=files A file of a broker, read here.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|'
        }
        'where' = @{
            name = 'where'; family = 'read'; help = 'Show the effective settings and test the servers'
            places = @()
            options = @(); columns = 'namesrvAddr|source|context|reachable|latencyMillis|version|signed|tls|readOnly|error|'
        }
        'divergence' = @{
            name = 'divergence'; family = 'read'; help = 'Compare name servers and explain differences'
            places = @()
            options = @('--detail A row for each thing, not for each kind.', '--hashes Instead, a row for each name server: a hash of each section.', '--settle= How long brokers may take to make all equal; 60.', '--section=broker|topic|kv|setting Only broker, topic, kv or setting. Repeatable.', '-s,--namespace=namespaces With this KV namespace too. Repeatable.', '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.'); columns = 'what|name|brokerName|count|state|seenFor|differs|cause|causeKind|advice|values|namesrvAddr|brokers|topics|brokerHash|topicHash|kvHash|settingHash|error|'
        }
        'kvget' = @{
            name = 'kv get'; family = 'read'; help = 'Show a value of the KV config'
            places = @('-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.', '-k,--key=kv-keys Key within the namespace.')
            options = @('-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.', '-k,--key=kv-keys Key within the namespace.'); columns = 'namesrvAddr|namespace|key|value|result|error|'
        }
        'kvlist' = @{
            name = 'kv list'; family = 'read'; help = 'List the values of a namespace'
            places = @('-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.')
            options = @('-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.'); columns = 'namesrvAddr|namespace|key|value|result|error|'
        }
        'kvdiff' = @{
            name = 'kv diff'; family = 'read'; help = 'Compare the KV config of name servers'
            places = @()
            options = @('-s,--namespace=namespaces Which namespace; ORDER_TOPIC_CONFIG if left out. Repeatable.'); columns = 'namespace|key|differs|values|'
        }
        'kvexport' = @{
            name = 'kv export'; family = 'read'; help = 'Write the KV config to a file'
            places = @('--file=files Where to; standard output if left out.')
            options = @('--file=files Where to; standard output if left out.', '-s,--namespace=namespaces Which namespace; ORDER_TOPIC_CONFIG if left out. Repeatable.', '--from=name-servers As this name server has it.'); columns = 'file|namespace|entries|'
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
            places = @('-c,--clusterName=clusters The cluster.')
            options = @('-c,--clusterName=clusters The cluster.', '-s,--namespace=namespaces With this KV namespace too. Repeatable.', '--schema The schema of such files instead.'); columns = ''
        }
        'plan' = @{
            name = 'plan'; family = 'read'; help = 'Compare a file with the cluster'
            places = @('--file=files What the cluster is to have, in YAML.')
            options = @('--file=files What the cluster is to have, in YAML.', '--prune Delete what the file does not have, of the sections that it has.', '--save-to=files Keep the plan, for apply to carry it out.', '--exit-code Exit code 2 if there is something to do, 1 for a bad file.'); columns = 'kind|name|action|servers|changes|before|after|messages|result|error|'
        }
        'whatif' = @{
            name = 'whatIf'; family = 'read'; help = 'Show what an outage of servers would break'
            places = @()
            options = @('--down=brokers Names of brokers, with commas; broker-a:0 is only its master.', '--down-namesrv= Addresses of name servers, with commas.', '--detail Each topic, broker and client by itself, also those that lose a part.', '--system Also topics of RocketMQ''s own, of retries and of dead letters.'); columns = 'what|name|count|finding|lostRatio|writeQueues|writeQueuesLeft|readQueues|readQueuesLeft|brokersLost|topics|clients|namesrvAddrs|nameServers|nameServersLeft|'
        }
        'spread' = @{
            name = 'spread'; family = 'read'; help = 'List topics that are unbalanced across brokers'
            places = @('-t,--topic=topics Only this topic.')
            options = @('-t,--topic=topics Only this topic.', '--all All topics that are not on every broker, or not evenly.', '-c,--clusterName=clusters Only this cluster.', '--plan=files Write what makes them even, for plan and apply.'); columns = 'clusterName|topic|finding|missing|queues|differing|'
        }
        'registrationsize' = @{
            name = 'registrationSize'; family = 'read'; help = 'Compare registrations with their limit'
            places = @()
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.', '--largest= So many topics of each broker, largest first.', '--removable The topics of retries and dead letters whose group has vanished.'); columns = 'clusterName|brokerName|brokerId|brokerAddr|version|topics|form|frames|bytes|framePercent|fits|removable|removableBytes|largestTopic|largestTopicBytes|error|topic|vanishedGroup|'
        }
        'listuser' = @{
            name = 'listUser'; family = 'read'; help = 'List users'
            places = @()
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.', '-f= Only users with this in their names.'); columns = 'brokerName|brokerId|brokerAddr|username|userType|userStatus|'
        }
        'getuser' = @{
            name = 'getUser'; family = 'read'; help = 'Show a user'
            places = @('-u,--username= Name of the user.')
            options = @('-u,--username= Name of the user.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|username|userType|userStatus|'
        }
        'listacl' = @{
            name = 'listAcl'; family = 'read'; help = 'List ACLs'
            places = @()
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.', '-s,--subject= Only subjects with this text in them.', '-r,--resource= Only resources with this text in them.'); columns = 'brokerName|brokerId|brokerAddr|subject|policyType|resource|actions|sourceIps|decision|'
        }
        'getacl' = @{
            name = 'getAcl'; family = 'read'; help = 'Show the ACL of a user'
            places = @('-s,--subject= Who: User:NAME, or NAME alone.')
            options = @('-s,--subject= Who: User:NAME, or NAME alone.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|subject|policyType|resource|actions|sourceIps|decision|'
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
            options = @('-a,--controllerAddress= Controllers, as HOST:PORT;HOST:PORT.', '-b,--brokerName=brokers Name of one broker.', '-c,--clusterName=clusters Every broker of it.', '-i,--interval= Again and again, until Ctrl-C.'); columns = 'brokerName|brokerId|brokerAddr|isMaster|inSync|alive|masterEpoch|syncStateSetEpoch|'
        }
        'getbrokerepoch' = @{
            name = 'getBrokerEpoch'; family = 'read'; help = 'Show the epochs of brokers'
            places = @()
            options = @('-b,--brokerName=brokers Name of one broker.', '-c,--clusterName=clusters Every broker of it.', '-i,--interval= Again and again, until Ctrl-C.'); columns = 'brokerName|brokerId|brokerAddr|epoch|startOffset|endOffset|maxOffset|'
        }
        'getcontrollerconfig' = @{
            name = 'getControllerConfig'; family = 'read'; help = 'Show the settings of controllers'
            places = @()
            options = @('-a,--controllerAddress= Controllers, as HOST:PORT;HOST:PORT.'); columns = 'controllerAddr|key|value|'
        }
        'history' = @{
            name = 'history'; family = 'read'; help = 'Show past changes of a topic, broker or key'
            places = @('--kind=topic|broker|cluster|kv topic, broker, cluster or kv; all if left out.', '--name= Its name; of kv, the namespace.', '--key= Of kv, one key.')
            options = @('--kind=topic|broker|cluster|kv topic, broker, cluster or kv; all if left out.', '--name= Its name; of kv, the namespace.', '--key= Of kv, one key.', '--since= Only from then on: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '--until= Only before then.', '--type= Only events of this type, such as TopicsChanged. Repeatable.', '--limit= Only the newest so many; 0 for all; 1000 if left out.', '-f,--follow Go on with what comes, until Ctrl-C.', '--namesrv= Only the journal of this one, as records name it.', '--journal=folders A name server''s journal, or the folder of collect. Repeatable. Default: the context''s.'); columns = 'seq|time|server|type|changes|cause|client|event|'
        }
        'routeat' = @{
            name = 'route at'; family = 'read'; help = 'Show the route of a topic at a past time'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '--at= ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '--namesrv= Only the journal of this one, as records name it.', '--journal=folders A name server''s journal, or the folder of collect. Repeatable. Default: the context''s.'); columns = 'topic|brokerName|clusterName|brokerAddrs|perm|readQueueNums|writeQueueNums|topicSysFlag|logicalQueues|server|'
        }
        'routediff' = @{
            name = 'route diff'; family = 'read'; help = 'Compare routes of two times or places'
            places = @('-t,--topic=topics Only this topic.')
            options = @('-t,--topic=topics Only this topic.', '--from= The one side: a snapshot''s file, HOST:PORT of a name server, a context, or a time.', '--to= The other side: one of the same.', '--unified As the text that diff -U0 writes.', '--namesrv= Only the journal of this one, as records name it.', '--journal=folders A name server''s journal, or the folder of collect. Repeatable. Default: the context''s.'); columns = 'what|name|brokerName|changes|before|after|'
        }
        'snapshotsave' = @{
            name = 'snapshot save'; family = 'read'; help = 'Save the state of the name servers to a file'
            places = @('--file=files Where to; named after the time if left out.')
            options = @('--file=files Where to; named after the time if left out.', '-s,--namespace=namespaces With this KV namespace too. Repeatable.', '--at= Of a past moment, from a journal: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '--namesrv= Only the journal of this one, as records name it.', '--journal=folders A name server''s journal, or the folder of collect. Repeatable. Default: the context''s.'); columns = 'file|time|nameServers|brokers|topics|kvEntries|size|'
        }
        'collect' = @{
            name = 'collect'; family = 'read'; help = 'Record journals of name servers that keep none'
            places = @('--dir=folders Where the journals are: a folder for each name server.')
            options = @('--dir=folders Where the journals are: a folder for each name server.', '--interval= From one poll to the next: 500ms, 15s, 1m; 15s if left out.', '--rate= Requests a second at most, over all servers; 1000 if left out.', '-s,--namespace= KV namespace to poll beside ORDER_TOPIC_CONFIG. Repeatable.', '--once One poll of each name server, for cron.', '--runtime Ask brokers too: release, TPS, disk, what waits in their queues.', '--lag Ask brokers too how far each consumer group is behind on each topic.', '--broker-interval= From one round of brokers to the next; 60s.', '--broker-rate= Requests to brokers a second at most; 50.', '--keep-days= What each journal keeps; 400 if left out.', '--keep-megabytes= What each journal keeps at most; 2048 if left out.'); columns = 'namesrvAddr|result|brokers|topics|events|took|journal|error|'
        }
        'exportconfigs' = @{
            name = 'exportConfigs'; family = 'read'; help = 'Export broker settings as JSON'
            places = @('-c,--clusterName=clusters The cluster.')
            options = @('-c,--clusterName=clusters The cluster.', '-f,--filePath=folders Write a file in this folder instead of standard output.', '--all All settings, not the 16 that mqadmin picks.'); columns = 'file|brokers|size|'
        }
        'exportmetadata' = @{
            name = 'exportMetadata'; family = 'read'; help = 'Export topics and groups as JSON'
            places = @('-c,--clusterName=clusters Every master of it.')
            options = @('-c,--clusterName=clusters Every master of it.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-f,--filePath=folders Write a file in this folder instead of standard output.', '-t,--topic Only topics.', '-g,--subscriptionGroup Only consumer groups.', '-s,--specialTopic Topics of retries and dead letters, too.', '--sum Add up queues over brokers, as mqadmin does: good for counting only.'); columns = 'file|brokers|size|'
        }
        'exportmetrics' = @{
            name = 'exportMetrics'; family = 'read'; help = 'Export load, versions and sizes as JSON'
            places = @('-c,--clusterName=clusters The cluster.')
            options = @('-c,--clusterName=clusters The cluster.', '-f,--filePath=folders Write a file in this folder instead of standard output.'); columns = 'file|brokers|size|'
        }
        'exportmetadatainrocksdb' = @{
            name = 'exportMetadataInRocksDB'; family = 'read'; help = 'Export topics or groups from RocksDB'
            places = @('-p,--path=folders A broker''s config folder, read here.', '-t,--configType=topics|subscriptionGroups What to read.')
            options = @('-p,--path=folders A broker''s config folder, read here.', '-t,--configType=topics|subscriptionGroups What to read.', '-j,--jsonEnable=true|false true: JSON as brokers have it, instead of rows.'); columns = 'key|value|'
        }
        'updatebrokerconfig' = @{
            name = 'updateBrokerConfig'; family = 'change'; help = 'Change a setting of brokers'
            places = @('-k,--key=broker-keys A setting that getBrokerConfig shows.', '-v,--value= Its new value.')
            options = @('-k,--key=broker-keys A setting that getBrokerConfig shows.', '-v,--value= Its new value.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters Every master of it.', '-a,--updateAllBroker=true|false With -c: its slaves too.'); columns = 'brokerName|brokerId|brokerAddr|key|changes|before|after|result|error|'
        }
        'sendmsgstatus' = @{
            name = 'sendMsgStatus'; family = 'change'; help = 'Time test messages to one broker'
            places = @('-b,--brokerName=brokers Name of a broker.')
            options = @('-b,--brokerName=brokers Name of a broker.', '-s,--messageSize= Size of each body.', '-c,--count= So many messages, one after another.'); columns = 'brokerName|brokerAddr|queueId|offsetMsgId|queueOffset|rt|result|error|'
        }
        'clusterrt' = @{
            name = 'clusterRT'; family = 'change'; help = 'Time test messages to every master'
            places = @()
            options = @('-a,--amount= So many messages for each broker.', '-s,--size= Size of each body.', '-c,--cluster=clusters Only this cluster.', '-p,--print=true|false true: lines of TIME|ROOM|CLUSTER|BROKER|MS.', '-m,--machineRoom= Where it is measured; a column.', '-i,--interval= Again and again, until Ctrl-C.'); columns = 'time|machineRoom|clusterName|brokerName|brokerAddr|rt|maxRt|successCount|failCount|result|error|'
        }
        'cleanexpiredcq' = @{
            name = 'cleanExpiredCQ'; family = 'change'; help = 'Delete consume queue files of expired messages'
            places = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--cluster=clusters Every master and slave of it.'); columns = 'brokerName|brokerId|brokerAddr|changes|result|error|'
        }
        'deleteexpiredcommitlog' = @{
            name = 'deleteExpiredCommitLog'; family = 'change'; help = 'Delete expired commit log files'
            places = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--cluster=clusters Every master and slave of it.'); columns = 'brokerName|brokerId|brokerAddr|changes|result|error|'
        }
        'cleanunusedtopic' = @{
            name = 'cleanUnusedTopic'; family = 'change'; help = 'Delete consume queues of topics without config'
            places = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--cluster=clusters Every master and slave of it.'); columns = 'brokerName|brokerId|brokerAddr|changes|result|error|'
        }
        'setcommitlogreadaheadmode' = @{
            name = 'setCommitLogReadAheadMode'; family = 'change'; help = 'Switch read-ahead of commit logs'
            places = @('-m,--commitLogReadAheadMode=0|1 0 reads ahead, 1 does not.')
            options = @('-m,--commitLogReadAheadMode=0|1 0 reads ahead, 1 does not.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|changes|before|after|result|error|'
        }
        'switchtimerengine' = @{
            name = 'switchTimerEngine'; family = 'change'; help = 'Choose the store of timed messages'
            places = @('-e,--engineType=R|F R (RocksDB) or F (files of a time wheel).')
            options = @('-e,--engineType=R|F R (RocksDB) or F (files of a time wheel).', '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.', '-c,--clusterName=clusters All masters of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|changes|before|after|result|error|'
        }
        'resetmasterflushoffset' = @{
            name = 'resetMasterFlushOffset'; family = 'change'; help = 'Set the master flush offset on a slave'
            places = @('-o,--offset= Place in the commit log, in bytes.')
            options = @('-o,--offset= Place in the commit log, in bytes.', '-b,--brokerAddr=addresses One slave: address or NAME/ID.'); columns = 'brokerName|brokerId|brokerAddr|changes|before|after|result|error|'
        }
        'updatecolddataflowctrgroupconfig' = @{
            name = 'updateColdDataFlowCtrGroupConfig'; family = 'change'; help = 'Limit a group''s cold-data reads'
            places = @('-g,--consumerGroup=groups Name of a group.', '-v,--threshold= So many bytes of cold data in a second.')
            options = @('-g,--consumerGroup=groups Name of a group.', '-v,--threshold= So many bytes of cold data in a second.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|consumerGroup|changes|before|after|result|error|'
        }
        'removecolddataflowctrgroupconfig' = @{
            name = 'removeColdDataFlowCtrGroupConfig'; family = 'change'; help = 'Remove a group''s cold-data limit'
            places = @('-g,--consumerGroup=groups Name of a group.')
            options = @('-g,--consumerGroup=groups Name of a group.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|consumerGroup|changes|before|after|result|error|'
        }
        'addbroker' = @{
            name = 'addBroker'; family = 'change'; help = 'Start a broker in a broker container'
            places = @('-c,--brokerContainerAddr= Address of the container.', '-b,--brokerConfigPath= The broker''s file, on the container''s machine.')
            options = @('-c,--brokerContainerAddr= Address of the container.', '-b,--brokerConfigPath= The broker''s file, on the container''s machine.'); columns = 'brokerContainerAddr|broker|result|error|'
        }
        'removebroker' = @{
            name = 'removeBroker'; family = 'change'; help = 'Stop a broker in a broker container'
            places = @('-c,--brokerContainerAddr= Address of the container.', '-b,--brokerIdentity= Which broker of it; 0 is the id of a master.')
            options = @('-c,--brokerContainerAddr= Address of the container.', '-b,--brokerIdentity= Which broker of it; 0 is the id of a master.'); columns = 'brokerContainerAddr|broker|result|error|'
        }
        'drain' = @{
            name = 'drain'; family = 'change'; help = 'Stop writes to a broker until it is safe to stop'
            places = @('-b,--brokerName=brokers Name of a broker, as in clusterList.')
            options = @('-b,--brokerName=brokers Name of a broker, as in clusterList.', '--hold Go on holding when it is safe, until Ctrl-C.', '--then= What the shell is to run once it is safe; {brokerName} and {brokerAddr} are filled in, and are in NSADMIN_BROKER_NAME and NSADMIN_BROKER_ADDR.', '--for-good Wait also until no consumer group has anything left to read here.', '--durable Through brokerPermission, which a restarted broker keeps, and not on name servers.', '--force Although topics would be left without a broker.', '--allow-unreachable Although a name server does not answer.', '--threshold= Messages a minute that count as none; 0 if left out.', '--settle= How long clients take to look at routes again (pollNameServerInterval); 30s if left out.', '--interval= From one look to the next; 10s if left out.', '--intervals= So many in a row without writes; 3 if left out.'); columns = 'namesrvAddr|brokerName|topicCount|openTopics|result|error|'
        }
        'undrain' = @{
            name = 'undrain'; family = 'change'; help = 'Restore the permissions from before the drain'
            places = @('-b,--brokerName=brokers Name of a broker, as in clusterList.')
            options = @('-b,--brokerName=brokers Name of a broker, as in clusterList.'); columns = 'namesrvAddr|brokerName|topicCount|how|differing|result|error|'
        }
        'rollingrestart' = @{
            name = 'rollingRestart'; family = 'change'; help = 'Restart the brokers of a cluster one by one'
            places = @('-c,--clusterName=clusters Name of the cluster.')
            options = @('-c,--clusterName=clusters Name of the cluster.', '--stop= What the shell runs to stop one; {brokerName}, {brokerAddr}, {brokerId} are filled in, and are in NSADMIN_BROKER_NAME, NSADMIN_BROKER_ADDR, NSADMIN_BROKER_ID.', '--start= What the shell runs to start it, likewise.', '--pause-after= End after so many groups; the next start goes on.', '--patience= How long a broker may take until it is healthy again; 10m if left out.', '--durable Drain through brokerPermission: closed until slaves are in sync, not only down.', '--force Although topics are on one broker alone.', '--allow-unreachable Although a name server does not answer.', '--threshold= Messages a minute that count as none; 0 if left out.', '--settle= How long clients take to look at routes again (pollNameServerInterval); 30s if left out.', '--interval= From one look to the next; 10s if left out.', '--intervals= So many in a row without writes; 3 if left out.'); columns = 'brokerName|brokerId|brokerAddr|steps|openTopics|result|'
        }
        'wipewriteperm' = @{
            name = 'wipeWritePerm'; family = 'change'; help = 'Remove the write permission of a broker'
            places = @('-b,--brokerName=brokers Name of a broker, as in clusterList.')
            options = @('-b,--brokerName=brokers Name of a broker, as in clusterList.'); columns = 'namesrvAddr|brokerName|topicCount|changes|before|after|result|error|'
        }
        'addwriteperm' = @{
            name = 'addWritePerm'; family = 'change'; help = 'Give a broker write permission again'
            places = @('-b,--brokerName=brokers Name of a broker, as in clusterList.')
            options = @('-b,--brokerName=brokers Name of a broker, as in clusterList.'); columns = 'namesrvAddr|brokerName|topicCount|changes|before|after|result|error|'
        }
        'repairwipe' = @{
            name = 'repair wipe'; family = 'change'; help = 'Restore each topic''s permission from the broker'
            places = @('-b,--brokerName=brokers Name of a broker, as in clusterList.')
            options = @('-b,--brokerName=brokers Name of a broker, as in clusterList.'); columns = 'namesrvAddr|brokerName|topicCount|missing|changes|before|after|how|result|error|'
        }
        'repairregister' = @{
            name = 'repair register'; family = 'change'; help = 'Register all topics of a broker again'
            places = @('-b,--brokerName=brokers Name of a broker, as in clusterList.')
            options = @('-b,--brokerName=brokers Name of a broker, as in clusterList.'); columns = 'namesrvAddr|brokerName|topicCount|missing|changes|before|after|how|result|error|'
        }
        'updatetopic' = @{
            name = 'updateTopic'; family = 'change'; help = 'Create or change a topic'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.', '-c,--clusterName=clusters All masters of this cluster.', '-r,--readQueueNums= Queues to read from.', '-w,--writeQueueNums= Queues to write to.', '-p,--perm=2|4|6 6 read and write, 4 read, 2 write.', '-o,--order=true|false true also writes its order configuration.', '-u,--unit=true|false Whether it belongs to a unit.', '-s,--hasUnitSub=true|false Whether units subscribe to it.', '-a,--attributes= As in +message.type=FIFO,-other; 5.0 and later.'); columns = 'target|role|brokerName|topic|changes|before|after|result|error|'
        }
        'updatetopicperm' = @{
            name = 'updateTopicPerm'; family = 'change'; help = 'Change the permission of a topic'
            places = @('-t,--topic=topics Name of a topic.', '-p,--perm=2|4|6 6 read and write, 4 read, 2 write.')
            options = @('-t,--topic=topics Name of a topic.', '-p,--perm=2|4|6 6 read and write, 4 read, 2 write.', '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.', '-c,--clusterName=clusters All masters of this cluster.'); columns = 'target|role|brokerName|topic|changes|before|after|result|error|'
        }
        'updatetopiclist' = @{
            name = 'updateTopicList'; family = 'change'; help = 'Create or change the topics of a file'
            places = @('-f,--filename=files A list of them, as JSON, or a file of export.')
            options = @('-f,--filename=files A list of them, as JSON, or a file of export.', '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.', '-c,--clusterName=clusters All masters of this cluster.'); columns = 'kind|name|action|servers|changes|before|after|messages|result|error|'
        }
        'deletetopic' = @{
            name = 'deleteTopic'; family = 'change'; help = 'Delete a topic and its messages'
            places = @('-t,--topic=topics Name of a topic.', '-c,--clusterName=clusters The cluster to delete it from.')
            options = @('-t,--topic=topics Name of a topic.', '-c,--clusterName=clusters The cluster to delete it from.'); columns = 'target|role|topic|changes|before|after|result|error|'
        }
        'updatestatictopic' = @{
            name = 'updateStaticTopic'; family = 'change'; help = 'Create or enlarge a static topic'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-qn,--totalQueueNum= So many logical queues, in all.', '-b,--brokers=brokers These brokers, by name.', '-c,--clusters=clusters All brokers of these.', '-mf,--mapFile=files Carry out this mapping file instead: see above.', '-fr,--forceReplace=true|false Have brokers take what they would refuse.'); columns = 'topic|queueId|before|after|brokerQueueId|logicOffset|result|error|'
        }
        'remappingstatictopic' = @{
            name = 'remappingStaticTopic'; family = 'change'; help = 'Move queues of a static topic'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-b,--brokers=brokers These brokers, by name.', '-c,--clusters=clusters All brokers of these.', '-mf,--mapFile=files Carry out this mapping file instead: see above.', '-fr,--forceReplace=true|false Have brokers take what they would refuse.'); columns = 'topic|queueId|before|after|brokerQueueId|logicOffset|result|error|'
        }
        'triggerlitedispatch' = @{
            name = 'triggerLiteDispatch'; family = 'change'; help = 'Dispatch lite topics to clients again'
            places = @('-p,--parentTopic=topics The parent topic.', '-g,--group=groups The consumer group.')
            options = @('-p,--parentTopic=topics The parent topic.', '-g,--group=groups The consumer group.', '-c,--clientId= Only for this client.', '-b,--brokerName=brokers Only on this broker.'); columns = 'brokerName|brokerAddr|group|clientId|result|error|'
        }
        'updatesubgroup' = @{
            name = 'updateSubGroup'; family = 'change'; help = 'Create or change a group'
            places = @('-g,--groupName=groups A consumer group.')
            options = @('-g,--groupName=groups A consumer group.', '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.', '-c,--clusterName=clusters All masters of this cluster.', '-s,--consumeEnable=true|false Whether it may consume.', '-m,--consumeFromMinEnable=true|false Start at the oldest message.', '-d,--consumeBroadcastEnable=true|false Whether it may broadcast.', '-o,--consumeMessageOrderly=true|false In order; 5.0 and later.', '-q,--retryQueueNums= Queues of its retry topic.', '-r,--retryMaxTimes= Retries before a dead letter.', '-p,--groupRetryPolicy= Its waits; 5.0 and later.', '-i,--brokerId= Broker id to consume from.', '-w,--whichBrokerWhenConsumeSlowly= Broker id when it is behind.', '-a,--notifyConsumerIdsChanged=true|false Tell clients of new clients.', '--attributes= As in +key=value,-other; 5.1.3 and later.'); columns = 'target|brokerName|group|changes|before|after|result|error|'
        }
        'updatesubgrouplist' = @{
            name = 'updateSubGroupList'; family = 'change'; help = 'Create or change the groups of a file'
            places = @('-f,--filename=files A list of them, as JSON, or a file of export.')
            options = @('-f,--filename=files A list of them, as JSON, or a file of export.', '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.', '-c,--clusterName=clusters All masters of this cluster.'); columns = 'kind|name|action|servers|changes|before|after|messages|result|error|'
        }
        'deletesubgroup' = @{
            name = 'deleteSubGroup'; family = 'change'; help = 'Delete a group'
            places = @('-g,--groupName=groups A consumer group.')
            options = @('-g,--groupName=groups A consumer group.', '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.', '-c,--clusterName=clusters All masters of this cluster.', '-r,--removeOffset=true|false Forget how far it has consumed, too.', '--keep-topics With -c: leave its retry and dead-letter topics.'); columns = 'target|role|group|topic|changes|before|after|result|error|'
        }
        'setconsumemode' = @{
            name = 'setConsumeMode'; family = 'change'; help = 'Set a group to pull or pop'
            places = @('-t,--topicName=topics Name of a topic.', '-g,--groupName=groups Name of a group.', '-m,--mode=PULL|POP PULL or POP.')
            options = @('-t,--topicName=topics Name of a topic.', '-g,--groupName=groups Name of a group.', '-m,--mode=PULL|POP PULL or POP.', '-q,--popShareQueueNum= Of POP: how many more clients share a queue.', '-b,--brokerAddr=addresses One master: HOST:PORT or NAME.', '-c,--clusterName=clusters All masters of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|topic|consumerGroup|changes|before|after|result|error|'
        }
        'resetoffsetbytime' = @{
            name = 'resetOffsetByTime'; family = 'change'; help = 'Move a group to a time or an offset'
            places = @('-g,--group=groups A consumer group.', '-t,--topic=topics Name of a topic.')
            options = @('-g,--group=groups A consumer group.', '-t,--topic=topics Name of a topic.', '-s,--timestamp= Where to go: -1 (the end), ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '-f,--force=true|false false: before 5.2, only go back. Else unused.', '-b,--broker=addresses With -q: the master that has the queue.', '-q,--queue= With -b: only this queue.', '-o,--offset= With -b and -q: there, whatever -s says.', '-c,--cluster=clusters Only the brokers of this cluster.', '--no-verify Do not wait for the next commits of connected clients.'); columns = 'group|topic|brokerName|brokerAddr|queueId|from|to|skipped|repeated|result|error|'
        }
        'skipaccumulatedmessage' = @{
            name = 'skipAccumulatedMessage'; family = 'change'; help = 'Move a group to the end of a topic'
            places = @('-g,--group=groups A consumer group.', '-t,--topic=topics Name of a topic.')
            options = @('-g,--group=groups A consumer group.', '-t,--topic=topics Name of a topic.', '-f,--force=true|false false: before 5.2, only go back. Else unused.', '-c,--cluster=clusters Only the brokers of this cluster.', '--no-verify Do not wait for the next commits of connected clients.'); columns = 'group|topic|brokerName|brokerAddr|queueId|from|to|skipped|repeated|result|error|'
        }
        'clonegroupoffset' = @{
            name = 'cloneGroupOffset'; family = 'change'; help = 'Copy the offsets of another group'
            places = @('-s,--srcGroup=groups The group whose offsets are taken.', '-d,--destGroup=groups The group that is moved there.', '-t,--topic=topics Name of a topic.')
            options = @('-s,--srcGroup=groups The group whose offsets are taken.', '-d,--destGroup=groups The group that is moved there.', '-t,--topic=topics Name of a topic.', '-o,--offline=true|false true: only if no client of GROUP is connected.', '--no-verify Do not wait for the next commits of connected clients.'); columns = 'group|topic|brokerName|brokerAddr|queueId|from|to|skipped|repeated|result|error|'
        }
        'sendmessage' = @{
            name = 'sendMessage'; family = 'change'; help = 'Send a text message'
            places = @('-t,--topic=topics Name of a topic.', '-p,--body= Text of the message.')
            options = @('-t,--topic=topics Name of a topic.', '-p,--body= Text of the message.', '-k,--key= Its keys, separated by blanks.', '-c,--tags= Its tag.', '-b,--broker=brokers Name of the broker to send to.', '-i,--qid= Queue to send to; needs -b.', '-m,--msgTraceEnable=true|false Whether a trace is written; false.', '--property= A property. Repeatable.'); columns = 'topic|brokerName|brokerAddr|queueId|msgId|offsetMsgId|queueOffset|costMs|result|error|'
        }
        'produce' = @{
            name = 'produce'; family = 'change'; help = 'Send messages from a text, a file or a template'
            places = @('-t,--topic=topics Name of a topic.', '--body= Text of the message. Default: read the input.')
            options = @('-t,--topic=topics Name of a topic.', '--body= Text of the message. Default: read the input.', '--input=files Read messages from FILE; - is standard input.', '--jsonl Each line of the input is a JSON object: see above.', '--raw The whole input is one body. Default: each line.', '--template= Generate bodies with {n} (1, 2, 3 ...), {time}, {uuid}, {random:1-100}.', '--count= Send BODY or the template N times.', '-k,--key= Keys, separated by blanks; placeholders work here too.', '-c,--tags= The tag.', '--property= A property. Repeatable.', '--sharding-key= Send to one queue, in order; placeholders work too.', '--delay= A level from 1 to 18, or a duration on brokers since 5.0.', '--compress Compress bodies with zlib.', '--rate= Send at most N messages per second.', '-b,--broker=brokers Only queues of this broker.', '-i,--queue= Only queues with this id.', '--each Print a row for each message, with its ids.'); columns = 'topic|brokerName|messageCount|bodyBytes|failed|messagesPerSecond|result|error|brokerAddr|queueId|msgId|offsetMsgId|queueOffset|costMs|'
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
            options = @('-g,--consumerGroup=groups Name of a consumer group.', '--since= Only dead letters stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '--until= Only dead letters stored until this time.', '--origin=topics Only messages from this topic. Repeatable.', '--key= Only messages with this key. Repeatable.', '--tag= Only messages with this tag. Repeatable.', '--body= Only messages whose body matches somewhere, read as UTF-8.', '--limit= Replay at most N.', '--rate= Replay at most N messages per second.', '--max-failures= Stop if more than N fail again.', '--to-topic Send to the origin topic, where every group gets the message.', '--again Replay also the messages that an earlier run replayed.', '--force Replay also messages that died again after 3 replays.'); columns = 'brokerName|group|deadLetters|examined|replayed|replayedBefore|skipped|failed|failedAgain|result|error|originTopic|age|messageCount|'
        }
        'dlqpurge' = @{
            name = 'dlq purge'; family = 'change'; help = 'Delete the dead letters of a group'
            places = @('-g,--consumerGroup=groups Name of a consumer group.')
            options = @('-g,--consumerGroup=groups Name of a consumer group.', '--before= Delete dead letters before: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.'); columns = 'clusterName|group|topic|older|newer|notReplayed|result|error|'
        }
        'checkmsgsendrt' = @{
            name = 'checkMsgSendRT'; family = 'change'; help = 'Time test messages to a topic'
            places = @('-t,--topic=topics Name of a topic.')
            options = @('-t,--topic=topics Name of a topic.', '-a,--amount= So many messages, one after another.', '-s,--size= Size of each body.'); columns = 'brokerName|brokerAddr|queueId|offsetMsgId|queueOffset|rt|result|error|'
        }
        'kvsync' = @{
            name = 'kv sync'; family = 'change'; help = 'Copy the KV config to the other name servers'
            places = @('--from=name-servers The name server that has it right.')
            options = @('--from=name-servers The name server that has it right.', '-s,--namespace=namespaces Which namespace; ORDER_TOPIC_CONFIG if left out. Repeatable.', '-k,--key= Only this key. Repeatable.', '--prune Delete keys that it does not have.'); columns = 'namesrvAddr|namespace|key|changes|before|after|result|error|'
        }
        'kvimport' = @{
            name = 'kv import'; family = 'change'; help = 'Write a file''s KV config to every name server'
            places = @('--file=files What kvExport or a name server has written.')
            options = @('--file=files What kvExport or a name server has written.', '-s,--namespace=namespaces Only this namespace of it. Repeatable.', '--prune Delete keys that are not in it.'); columns = 'namesrvAddr|namespace|key|changes|before|after|result|error|'
        }
        'updatekvconfig' = @{
            name = 'updateKvConfig'; family = 'change'; help = 'Set a value of the KV config'
            places = @('-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.', '-k,--key=kv-keys Key within the namespace.', '-v,--value= Text to store; may be empty.')
            options = @('-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.', '-k,--key=kv-keys Key within the namespace.', '-v,--value= Text to store; may be empty.'); columns = 'namesrvAddr|namespace|key|changes|before|after|result|error|'
        }
        'deletekvconfig' = @{
            name = 'deleteKvConfig'; family = 'change'; help = 'Delete a value of the KV config'
            places = @('-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.', '-k,--key=kv-keys Key within the namespace.')
            options = @('-s,--namespace=namespaces For example ORDER_TOPIC_CONFIG, whose keys are topics.', '-k,--key=kv-keys Key within the namespace.'); columns = 'namesrvAddr|namespace|key|changes|before|after|result|error|'
        }
        'updatenamesrvconfig' = @{
            name = 'updateNamesrvConfig'; family = 'change'; help = 'Change a setting of name servers'
            places = @('-k,--key=namesrv-keys A setting that getNamesrvConfig shows.', '-v,--value= Its new value.')
            options = @('-k,--key=namesrv-keys A setting that getNamesrvConfig shows.', '-v,--value= Its new value.'); columns = 'namesrvAddr|key|changes|before|after|result|error|'
        }
        'apply' = @{
            name = 'apply'; family = 'change'; help = 'Change the cluster to match a file'
            places = @('--file=files What the cluster is to have, or a plan that was kept.')
            options = @('--file=files What the cluster is to have, or a plan that was kept.', '--prune Delete what the file does not have, of the sections that it has.', '--max-deletes= Refuse to delete more items; 10 if left out.', '--allow-stranded Take queues away although messages in them are left unread.'); columns = 'kind|name|action|servers|changes|before|after|messages|result|error|'
        }
        'createuser' = @{
            name = 'createUser'; family = 'change'; help = 'Create a user'
            places = @('-u,--username= Name of the user.')
            options = @('-u,--username= Name of the user.', '-t,--userType=Normal|Super What ACLs allow, or everything.', '-p,--password= The password; needs --passwordVisible.', '--passwordFile=files Read it from this file, which others may not read.', '--passwordStdin Read it from a line of standard input.', '--passwordVisible Let it be on the line, where other users of this machine see it.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|username|changes|before|after|result|error|'
        }
        'updateuser' = @{
            name = 'updateUser'; family = 'change'; help = 'Change a user''s password, type or status'
            places = @('-u,--username= Name of the user.')
            options = @('-u,--username= Name of the user.', '-t,--userType=Normal|Super What ACLs allow, or everything.', '-s,--userStatus=enable|disable Whether he may sign.', '-p,--password= The password; needs --passwordVisible.', '--passwordPrompt A new password, asked for on the terminal.', '--passwordFile=files Read it from this file, which others may not read.', '--passwordStdin Read it from a line of standard input.', '--passwordVisible Let it be on the line, where other users of this machine see it.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|username|changes|before|after|result|error|'
        }
        'copyuser' = @{
            name = 'copyUser'; family = 'change'; help = 'Copy users to other brokers'
            places = @('-f,--fromBroker= The broker that has them: address or name.', '-t,--toBroker= The broker that gets them: address or name.')
            options = @('-f,--fromBroker= The broker that has them: address or name.', '-t,--toBroker= The broker that gets them: address or name.', '-u,--usernames=columns Only these users.'); columns = 'brokerName|brokerId|brokerAddr|username|changes|before|after|result|error|'
        }
        'deleteuser' = @{
            name = 'deleteUser'; family = 'change'; help = 'Delete a user and its ACL'
            places = @('-u,--username= Name of the user.')
            options = @('-u,--username= Name of the user.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|username|changes|before|after|result|error|'
        }
        'createacl' = @{
            name = 'createAcl'; family = 'change'; help = 'Create an ACL'
            places = @('-s,--subject= Who: User:NAME, or NAME alone.')
            options = @('-s,--subject= Who: User:NAME, or NAME alone.', '-r,--resources=columns Of what: Topic:NAME, Group:NAME, Cluster:NAME, Namespace:NAME; Topic:PREFIX*, Topic:*, *.', '-a,--actions=columns All, Pub, Sub, Create, Update, Delete, Get, List.', '-d,--decision=Allow|Deny What becomes of them.', '-i,--sourceIp=columns Only from these addresses or networks (10.0.0.0/8).', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|subject|changes|before|after|result|error|'
        }
        'updateacl' = @{
            name = 'updateAcl'; family = 'change'; help = 'Change an ACL'
            places = @('-s,--subject= Who: User:NAME, or NAME alone.')
            options = @('-s,--subject= Who: User:NAME, or NAME alone.', '-r,--resources=columns Of what: Topic:NAME, Group:NAME, Cluster:NAME, Namespace:NAME; Topic:PREFIX*, Topic:*, *.', '-a,--actions=columns All, Pub, Sub, Create, Update, Delete, Get, List.', '-d,--decision=Allow|Deny What becomes of them.', '-i,--sourceIp=columns Only from these addresses or networks (10.0.0.0/8).', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|subject|changes|before|after|result|error|'
        }
        'copyacl' = @{
            name = 'copyAcl'; family = 'change'; help = 'Copy ACLs to other brokers'
            places = @('-f,--fromBroker= The broker that has them: address or name.', '-t,--toBroker= The broker that gets them: address or name.')
            options = @('-f,--fromBroker= The broker that has them: address or name.', '-t,--toBroker= The broker that gets them: address or name.', '-s,--subjects=columns Only these users'' ACLs.'); columns = 'brokerName|brokerId|brokerAddr|subject|changes|before|after|result|error|'
        }
        'deleteacl' = @{
            name = 'deleteAcl'; family = 'change'; help = 'Delete an ACL or parts of it'
            places = @('-s,--subject= Who: User:NAME, or NAME alone.')
            options = @('-s,--subject= Who: User:NAME, or NAME alone.', '-r,--resources=columns Only what it says of these; else all of it.', '--policyType=Custom|Default Only policies of this type; else both.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|subject|changes|before|after|result|error|'
        }
        'updateaclconfig' = @{
            name = 'updateAclConfig'; family = 'change'; help = 'Create or change an account (4.x)'
            places = @('-a,--accessKey= Access key of the account.')
            options = @('-a,--accessKey= Access key of the account.', '-s,--secretKey= The secret key; needs --passwordVisible.', '-m,--admin=true|false Whether it may do everything.', '-w,--whiteRemoteAddress= From where it need not sign: 10.0.0.*.', '-i,--defaultTopicPerm= Of topics not named: DENY, PUB, SUB, PUB|SUB.', '-u,--defaultGroupPerm= Of groups not named.', '-t,--topicPerms= Of topics: orders=PUB|SUB,other=DENY.', '-g,--groupPerms= Of groups: shop=SUB.', '--secretKeyPrompt A secret key, asked for on the terminal.', '--passwordFile=files Read it from this file, which others may not read.', '--passwordStdin Read it from a line of standard input.', '--passwordVisible Let it be on the line, where other users of this machine see it.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|accessKey|changes|before|after|result|error|'
        }
        'deleteaclconfig' = @{
            name = 'deleteAclConfig'; family = 'change'; help = 'Delete an account (4.x)'
            places = @('-a,--accessKey= Access key of the account.')
            options = @('-a,--accessKey= Access key of the account.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|accessKey|changes|before|after|result|error|'
        }
        'updateglobalwhiteaddr' = @{
            name = 'updateGlobalWhiteAddr'; family = 'change'; help = 'Set addresses that need no signature (4.x)'
            places = @('-g,--globalWhiteRemoteAddresses= Addresses such as 10.0.0.*,10.1.*.*.')
            options = @('-g,--globalWhiteRemoteAddresses= Addresses such as 10.0.0.*,10.1.*.*.', '-p,--aclFileFullPath= Into this file of the broker.', '-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters All masters and slaves of this cluster.'); columns = 'brokerName|brokerId|brokerAddr|changes|before|after|result|error|'
        }
        'updatecontrollerconfig' = @{
            name = 'updateControllerConfig'; family = 'change'; help = 'Change a setting of controllers'
            places = @('-k,--key= A setting that getControllerConfig shows.', '-v,--value= Its new value.')
            options = @('-k,--key= A setting that getControllerConfig shows.', '-v,--value= Its new value.', '-a,--controllerAddress= Controllers, as HOST:PORT;HOST:PORT.'); columns = 'controllerAddr|key|changes|before|after|result|error|'
        }
        'electmaster' = @{
            name = 'electMaster'; family = 'change'; help = 'Make a replica the master'
            places = @('-bn,--brokerName=brokers Name of the broker.', '-b,--brokerId= Id of the replica, as getSyncStateSet shows.')
            options = @('-bn,--brokerName=brokers Name of the broker.', '-b,--brokerId= Id of the replica, as getSyncStateSet shows.', '-a,--controllerAddress= Controllers, as HOST:PORT;HOST:PORT.', '-c,--clusterName=clusters Cluster of the broker.'); columns = 'brokerName|changes|before|after|result|error|'
        }
        'cleanbrokermetadata' = @{
            name = 'cleanBrokerMetadata'; family = 'change'; help = 'Remove replicas from the controllers'
            places = @('-bn,--brokerName=brokers Name of the broker.')
            options = @('-bn,--brokerName=brokers Name of the broker.', '-a,--controllerAddress= Controllers, as HOST:PORT;HOST:PORT.', '-b,--brokerControllerIdsToClean= Only these, as 1;2; else all.', '-c,--clusterName=clusters Its cluster; may be left out with -l.', '-l,--cleanLivingBroker The whole broker, also where it lives.'); columns = 'brokerName|changes|before|after|result|error|'
        }
        'exportpoprecord' = @{
            name = 'exportPopRecord'; family = 'change'; help = 'Move pop records to the message store'
            places = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.')
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--clusterName=clusters Every master and slave of it.', '-d,--dryRun= Refused: type --dry-run, or leave it out.'); columns = 'brokerName|brokerId|brokerAddr|changes|result|error|'
        }
        'updateorderconf' = @{
            name = 'updateOrderConf'; family = 'mixed'; help = 'Show or change a topic''s order config'
            places = @('-t,--topic=topics Name of a topic.', '-m,--method=get|put|delete What to do.', '-v,--orderConf= For put: broker-a:4;broker-b:8, queues by broker.')
            options = @('-t,--topic=topics Name of a topic.', '-m,--method=get|put|delete What to do.', '-v,--orderConf= For put: broker-a:4;broker-b:8, queues by broker.'); columns = 'namesrvAddr|topic|orderConf|result|error|changes|before|after|brokerAddr|'
        }
        'querymsgbyuniquekey' = @{
            name = 'queryMsgByUniqueKey'; family = 'mixed'; help = 'Find messages by the producer''s id'
            places = @('-t,--topic=topics Name of a topic.', '-i,--msgId= The id that a producer has in its log.')
            options = @('-t,--topic=topics Name of a topic.', '-i,--msgId= The id that a producer has in its log.', '-a,--showAll Accepted from mqadmin: all that there are is the rule.', '-s,--startTime= Stored since: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '-e,--endTime= Stored until, likewise.', '-c,--cluster=topics Ask the brokers of this topic or cluster instead.', '-g,--consumerGroup=groups With -d: hand it to this client of the group.', '-d,--clientId= With -g: an id of consumerConnection.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tracks|brokerAddr|group|clientId|consumeResult|spentMs|result|error|'
        }
        'querymsgbyid' = @{
            name = 'queryMsgById'; family = 'mixed'; help = 'Find a message by an id of either kind'
            places = @('-t,--topic=topics Name of a topic.', '-i,--msgId= One id of either kind, or several: A,B.')
            options = @('-t,--topic=topics Name of a topic.', '-i,--msgId= One id of either kind, or several: A,B.', '-f,--bodyFormat= Read bodies in this encoding, not in UTF-8.', '-c,--cluster=topics Ask the brokers of this topic or cluster instead.', '-u,--unitName= Accepted from mqadmin, without meaning.', '-g,--consumerGroup=groups With -d: hand it to this client of the group.', '-d,--clientId= With -g: an id of consumerConnection.', '-s,--sendMessage=true|false true: send it once more to its topic.'); columns = 'msgId|offsetMsgId|topic|brokerName|queueId|queueOffset|physicalOffset|keys|tags|storeTime|bornTime|storeHost|bornHost|reconsumeTimes|flag|sysFlag|preparedTransactionOffset|storeSize|crcOk|properties|body|bodyEncoding|bodyError|tracks|brokerAddr|group|clientId|consumeResult|spentMs|result|error|costMs|'
        }
        'orphans' = @{
            name = 'orphans'; family = 'mixed'; help = 'Find leftover topics, and delete them'
            places = @()
            options = @('--clean Delete those without a broker, and retry topics without a group.', '--dlq With --clean: dead letters without a group too, with their messages.'); columns = 'kind|topic|finding|brokers|namesrvAddrs|group|target|role|changes|before|after|result|error|'
        }
        'rocksdbconfigtojson' = @{
            name = 'rocksDBConfigToJson'; family = 'mixed'; help = 'Export a RocksDB config store as JSON'
            places = @()
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '-c,--cluster,--clusterName=clusters Every master and slave of it.', '-t,--configType= topics;subscriptionGroups;consumerOffsets, or some of them; with -p, one.', '-p,--configPath=folders A broker''s config folder, read here.', '-e,--exportFile=files With -p: write this file.', '-j,--jsonEnable=true|false With -p: false shows rows instead of JSON.'); columns = 'key|value|file|size|brokerName|brokerId|brokerAddr|changes|result|error|'
        }
        'securityaudit' = @{
            name = 'securityAudit'; family = 'check'; help = 'List security risks and how to fix them'
            places = @()
            options = @('--warning= How many kinds of warnings may be there; 0 if left out.', '--critical= How many critical kinds may be there; 0 if left out.'); columns = 'check|about|state|exitCode|time|summary|details|values|checks|'
        }
        'checkall' = @{
            name = 'check all'; family = 'check'; help = 'Run every check that applies'
            places = @()
            options = @('-t,--topic=topics Check this topic by itself, too. Repeatable.', '-g,--groupName=groups Check the lag of this group, too. Repeatable.', '--expect=N|BROKERS|FILE How many brokers there have to be; or which, as broker-a,broker-b:1, a file with one in each line, a plan or a journal.', '--journal=folders A name server''s journal, or the folder of collect. Repeatable. Default: the context''s.', '--settle= Where name servers differ, how long brokers may take to make them equal; 50 if left out.', '--warning= Other limits for a check than its usual ones. Repeatable.', '--critical= The same, such as lag=500000. Repeatable.', '--skip=namesrv|brokers|divergence|writable|heartbeat|registrationSize|certificates|journal|drain Without this check. Repeatable.'); columns = 'check|about|state|exitCode|time|summary|details|values|checks|'
        }
        'checknamesrv' = @{
            name = 'check namesrv'; family = 'check'; help = 'Check that name servers answer'
            places = @()
            options = @('--warning= How many may not serve; 0 if left out.', '--critical= How many have to serve; 1: (at least one) if left out.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkbrokers' = @{
            name = 'check brokers'; family = 'check'; help = 'Check that all brokers answer and have a master'
            places = @()
            options = @('--clusterName=clusters Only what is in this cluster.', '--expect=N|BROKERS|FILE How many brokers there have to be; or which, as broker-a,broker-b:1, a file with one in each line, a plan or a journal.', '--warning= How many brokers may not answer, or be missing as masters; 0 if left out.', '--critical= How many broker names may be without a master that answers; 0 if left out.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkdivergence' = @{
            name = 'check divergence'; family = 'check'; help = 'Check that name servers agree'
            places = @()
            options = @('--settle= Where name servers differ, how long brokers may take to make them equal; 50 if left out.', '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.', '--warning= How many things may differ; 0 if left out.', '--critical= How many brokers and queues of topics may differ; 0 if left out.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checktopic' = @{
            name = 'check topic'; family = 'check'; help = 'Check that a topic is writable'
            places = @('-t,--topic=topics The topic.')
            options = @('-t,--topic=topics The topic.', '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.', '--warning= How many of its brokers may take no messages of it; 0 if left out.', '--critical= How many brokers have to take messages of it; 1: (at least one) if left out.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkwritable' = @{
            name = 'check writable'; family = 'check'; help = 'Check that all topics are writable'
            places = @()
            options = @('--clusterName=clusters Only what is in this cluster.', '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.', '--exclude= Without topics in whose names this is found.', '--warning= How many topics may be written on fewer brokers than have them; 0 if left out.', '--critical= How many topics may not be written; 0 if left out.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checklag' = @{
            name = 'check lag'; family = 'check'; help = 'Check the backlog of a group'
            places = @('-g,--groupName=groups The consumer group.')
            options = @('-g,--groupName=groups The consumer group.', '-t,--topicName=topics Only on this topic.', '--clusterName=clusters Only what is in this cluster.', '--warning= How many messages it may be behind; 10000 if left out.', '--critical= How many messages it may be behind; 100000 if left out.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkheartbeat' = @{
            name = 'check heartbeat'; family = 'check'; help = 'Check the age of broker heartbeats'
            places = @()
            options = @('--warning= How much of its time a broker may be silent, in percent; 50 if left out.', '--critical= The same; 75 if left out.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkregistrationsize' = @{
            name = 'check registrationSize'; family = 'check'; help = 'Check registrations against their limit'
            places = @()
            options = @('-b,--brokerAddr=addresses One broker: HOST:PORT, NAME or NAME/ID.', '--clusterName=clusters Only what is in this cluster.', '--warning= How much of 16 MiB a registration may take, in percent; 50 if left out.', '--critical= The same; 80 if left out.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkcertificates' = @{
            name = 'check certificates'; family = 'check'; help = 'Check when certificates expire'
            places = @()
            options = @('--warning= How many days have to be left; 30: if left out.', '--critical= The same; 7: if left out.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkjournal' = @{
            name = 'check journal'; family = 'check'; help = 'Check that journals grow and are complete'
            places = @()
            options = @('--journal=folders A name server''s journal, or the folder of collect. Repeatable. Default: the context''s.', '--since= Count losses from then on; -24h if left out. ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '--verify Look through all of each journal, which takes its time.', '--warning= How old the last record may be, in seconds; 120 if left out.', '--critical= The same; 600 if left out.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'checkdrain' = @{
            name = 'check drain'; family = 'check'; help = 'Check that drained brokers stay drained'
            places = @()
            options = @('--warning= How old a drain may be, in seconds; 86400 (a day) if left out.', '--critical= How many topics may be open to writes on drained brokers; 0 if left out.'); columns = 'check|about|state|exitCode|time|summary|details|values|'
        }
        'startmonitoring' = @{
            name = 'startMonitoring'; family = 'check'; help = 'Check all consumer groups repeatedly'
            places = @()
            options = @('--once Look once, and exit with what was found.', '-i,--interval= From one look to the next.', '--clusterName=clusters Only what is in this cluster.', '--warning= Messages a group may be behind; 10000 if left out.', '--critical= Messages a group may be behind; 100000 if left out.'); columns = 'check|about|state|exitCode|time|summary|details|values|checks|'
        }
        'snapshotshow' = @{
            name = 'snapshot show'; family = 'local'; help = 'Show the contents of a snapshot'
            places = @('--file=files The snapshot''s file.')
            options = @('--file=files The snapshot''s file.'); columns = 'what|name|brokerName|summary|value|'
        }
        'snapshotlist' = @{
            name = 'snapshot list'; family = 'local'; help = 'List the snapshots of a folder'
            places = @('--dir=folders Where to look; here if left out.')
            options = @('--dir=folders Where to look; here if left out.'); columns = 'file|time|nameServers|brokers|topics|kvEntries|size|'
        }
        'journalcat' = @{
            name = 'journal cat'; family = 'local'; help = 'Print the events of a journal'
            places = @('--dir=folders Folder of the journal.')
            options = @('--dir=folders Folder of the journal.', '--since= Only from then on: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.', '--until= Only before then.'); columns = 'seq|time|server|type|summary|cause|client|event|'
        }
        'journaltail' = @{
            name = 'journal tail'; family = 'local'; help = 'Print the last events and follow'
            places = @('--dir=folders Folder of the journal.')
            options = @('--dir=folders Folder of the journal.', '-l,--lines= How many; 10 if left out.', '-f,--follow Go on with what comes, until Ctrl-C.'); columns = 'seq|time|server|type|summary|cause|client|event|'
        }
        'journalstat' = @{
            name = 'journal stat'; family = 'local'; help = 'Count the events of a journal by type'
            places = @('--dir=folders Folder of the journal.')
            options = @('--dir=folders Folder of the journal.'); columns = 'type|records|plainSize|firstTime|lastTime|'
        }
        'journalverify' = @{
            name = 'journal verify'; family = 'local'; help = 'Check that a journal is complete'
            places = @('--dir=folders Folder of the journal.')
            options = @('--dir=folders Folder of the journal.'); columns = 'file|result|records|firstSeq|lastSeq|firstTime|lastTime|size|plainSize|problems|'
        }
        'auditlist' = @{
            name = 'audit list'; family = 'local'; help = 'List the changes that this account made'
            places = @()
            options = @('--since= Only from then on: ms since 1970, ISO 8601, yyyy-MM-dd#HH:mm:ss:SSS, 14:03, yesterday 14:03, yesterday, 2h or -2h for two hours ago (s, m, h, d, w), or now.'); columns = 'time|user|context|nameServers|command|sent|results|exitCode|servers|'
        }
        'contextlist' = @{
            name = 'context list'; family = 'local'; help = 'List the saved contexts'
            places = @()
            options = @(); columns = 'name|current|namesrvAddr|configFile|endpoint|credentials|tls|timeout|retries|concurrency|output|addressMap|journals|readOnly|color|'
        }
        'contextshow' = @{
            name = 'context show'; family = 'local'; help = 'Show a context'
            places = @('--name=contexts Name of a context.')
            options = @('--name=contexts Name of a context.'); columns = 'name|current|namesrvAddr|configFile|endpoint|credentials|tls|timeout|retries|concurrency|output|addressMap|journals|readOnly|color|'
        }
        'contextuse' = @{
            name = 'context use'; family = 'local'; help = 'Choose the current context'
            places = @('--name=contexts Name of a context, or "-".')
            options = @('--name=contexts Name of a context, or "-".'); columns = 'name|current|namesrvAddr|configFile|endpoint|credentials|tls|timeout|retries|concurrency|output|addressMap|journals|readOnly|color|'
        }
        'contextset' = @{
            name = 'context set'; family = 'local'; help = 'Create or change a context'
            places = @('--name=contexts Name of a context.')
            options = @('--name=contexts Name of a context.', '-n,--namesrvAddr=name-servers Its name servers. Repeatable.', '--configFile=files Instead: a properties file that names them.', '--endpoint= Instead: where HTTP tells them.', '--accessKey= Who signs; the secret key is asked for, or piped in.', '--secretKeyStdin Read the secret key from a line of standard input.', '--securityTokenStdin Read a security token from the next line.', '--credentials= Instead: where these are: env, file:PATH, tools:PATH, keyring:NAME.', '--tls,--no-tls Encrypted connections, or plain ones.', '--tlsCa=files Authorities to trust (PEM), not the system''s.', '--tlsCert=files The client''s own certificate (PEM).', '--tlsKey=files Its key (PEM).', '--tlsKeyPasswordFrom= What opens the key: env:NAME or file:PATH.', '--tlsKeyPasswordStdin Or read that from the next line.', '--tlsServerName= What certificates have to name.', '--verify,--insecure Whether certificates are verified. If not, commands that sign need --insecure as well.', '--addressMap= Where to reach brokers; added. Repeatable.', '--journal=folders Folder of a name server''s journal. Repeatable.', '--timeout= For each request on each server.', '--retries= Of what got no answer and changes nothing.', '--concurrency= Servers asked at a time.', '--defaultOutput=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin How to write rows.', '--readOnly,--writable Whether every change is refused.', '--color=red|green|yellow|blue|magenta|cyan To show its name in, say red.', '--unset= Forget this, such as timeout or tls.caFile. Repeatable.'); columns = 'name|current|namesrvAddr|configFile|endpoint|credentials|tls|timeout|retries|concurrency|output|addressMap|journals|readOnly|color|'
        }
        'contextlogin' = @{
            name = 'context login'; family = 'local'; help = 'Store the credentials of a context'
            places = @('--name=contexts Name of a context.')
            options = @('--name=contexts Name of a context.', '--file= Store them in this file, for its owner alone.'); columns = 'name|current|namesrvAddr|configFile|endpoint|credentials|tls|timeout|retries|concurrency|output|addressMap|journals|readOnly|color|'
        }
        'contextdelete' = @{
            name = 'context delete'; family = 'local'; help = 'Delete a context'
            places = @('--name=contexts Name of a context.')
            options = @('--name=contexts Name of a context.'); columns = 'name|current|namesrvAddr|configFile|endpoint|credentials|tls|timeout|retries|concurrency|output|addressMap|journals|readOnly|color|'
        }
        'reportshow' = @{
            name = 'report show'; family = 'local'; help = 'Show a computed report'
            places = @('--report=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|route_as_of Name of the report.')
            options = @('--report=broker_availability|broker_flaps|drain_audit|heartbeat_gaps|ns_divergence|ns_convergence|topic_growth|registration_forecast|orphan_topics|hot_brokers|consumer_lag_trend|topic_volume|config_changes|ns_health|route_as_of Name of the report.', '--dir=folders The folder that report run --dir wrote.', '--since= First day (UTC), for example 2025-01-31.', '--until= Last day (UTC).', '--expect=BROKERS|FILE Brokers that must be registered: broker-a,broker-b:1, a file with one in each line, a plan or a journal.'); columns = 'date|cluster|brokerName|brokerId|upSeconds|downSeconds|plannedSeconds|unknownSeconds|partialSeconds|availability|failures|mtbfSeconds|mttrSeconds|ts|endTs|ongoing|servers|outages|conflicts|longestSeconds|cause|server|outcome|how|client|closedTs|topics|closedTopics|heldSeconds|openedTs|openedTopics|openedType|openedCause|openedClient|seconds|ended|whose|silentBrokers|topic|key|field|values|after|changes|open|p50Seconds|p95Seconds|maxSeconds|change|bytes|days|bytesPerDay|lowBytesPerDay|highBytesPerDay|fullDate|earliestDate|latestDate|brokers|reason|knownSince|lastPut|told|puts|gets|putShare|getShare|fairShare|putRatio|skew|gini|queueSkew|skewedTopic|consumerGroup|samples|lastLag|minLag|maxLag|lagPerSecond|drainSeconds|stuck|trend|group|messagesIn|bytesIn|messagesOut|bytesOut|sentBack|minutes|type|namespace|before|watchedSeconds|starts|stops|pauses|failedPolls|eventsLost|repairs|decodeErrors|complaints|scanHoles|longestPauseSeconds|longestScanHoleSeconds|waterMarks|requests|readQueueNums|writeQueueNums|perm|topicSysFlag|known|validFrom|fromType|fromCause|fromClient|'
        }
        'reporthtml' = @{
            name = 'report html'; family = 'local'; help = 'Write all reports as one HTML page'
            places = @()
            options = @('--dir=folders The folder that report run --dir wrote.', '--since= First day (UTC), for example 2025-01-31.', '--until= Last day (UTC).', '--to=files Write to this file instead of stdout.'); columns = ''
        }
        'reportmarkdown' = @{
            name = 'report markdown'; family = 'local'; help = 'Write all reports as Markdown'
            places = @()
            options = @('--dir=folders The folder that report run --dir wrote.', '--since= First day (UTC), for example 2025-01-31.', '--until= Last day (UTC).', '--to=files Write to this file instead of stdout.'); columns = ''
        }
        'mqadminmap' = @{
            name = 'mqadminMap'; family = 'local'; help = 'Show the nsadmin command for an mqadmin command'
            places = @('--command=addBroker|addWritePerm|allocateMQ|brokerConsumeStats|brokerStatus|checkMsgSendRT|checkRocksdbCqWriteProgress|cleanBrokerMetadata|cleanExpiredCQ|cleanUnusedTopic|cloneGroupOffset|clusterAclConfigVersion|clusterList|clusterRT|consumeMessage|consumerConnection|consumerProgress|consumerStatus|copyAcl|copyUser|createAcl|createUser|deleteAcl|deleteAclConfig|deleteExpiredCommitLog|deleteKvConfig|deleteSubGroup|deleteTopic|deleteUser|dumpCompactionLog|electMaster|exportConfigs|exportMetadata|exportMetadataInRocksDB|exportMetrics|exportPopRecord|getAcl|getAclConfig|getBrokerConfig|getBrokerEpoch|getBrokerLiteInfo|getColdDataFlowCtrInfo|getConsumerConfig|getControllerConfig|getControllerMetaData|getLiteClientInfo|getLiteGroupInfo|getLiteTopicInfo|getNamesrvConfig|getParentTopicInfo|getSyncStateSet|getUser|haStatus|listAcl|listUser|printMsg|printMsgByQueue|producer|producerConnection|queryCq|queryMsgById|queryMsgByKey|queryMsgByOffset|queryMsgByUniqueKey|queryMsgTraceById|remappingStaticTopic|removeBroker|removeColdDataFlowCtrGroupConfig|resetMasterFlushOffset|resetOffsetByTime|rocksDBConfigToJson|sendMessage|sendMsgStatus|setCommitLogReadAheadMode|setConsumeMode|skipAccumulatedMessage|startMonitoring|statsAll|switchTimerEngine|topicClusterList|topicList|topicRoute|topicStatus|triggerLiteDispatch|updateAcl|updateAclConfig|updateBrokerConfig|updateColdDataFlowCtrGroupConfig|updateControllerConfig|updateGlobalWhiteAddr|updateKvConfig|updateNamesrvConfig|updateOrderConf|updateStaticTopic|updateSubGroup|updateSubGroupList|updateTopic|updateTopicList|updateTopicPerm|updateUser|wipeWritePerm A command of mqadmin; all if left out.')
            options = @('--command=addBroker|addWritePerm|allocateMQ|brokerConsumeStats|brokerStatus|checkMsgSendRT|checkRocksdbCqWriteProgress|cleanBrokerMetadata|cleanExpiredCQ|cleanUnusedTopic|cloneGroupOffset|clusterAclConfigVersion|clusterList|clusterRT|consumeMessage|consumerConnection|consumerProgress|consumerStatus|copyAcl|copyUser|createAcl|createUser|deleteAcl|deleteAclConfig|deleteExpiredCommitLog|deleteKvConfig|deleteSubGroup|deleteTopic|deleteUser|dumpCompactionLog|electMaster|exportConfigs|exportMetadata|exportMetadataInRocksDB|exportMetrics|exportPopRecord|getAcl|getAclConfig|getBrokerConfig|getBrokerEpoch|getBrokerLiteInfo|getColdDataFlowCtrInfo|getConsumerConfig|getControllerConfig|getControllerMetaData|getLiteClientInfo|getLiteGroupInfo|getLiteTopicInfo|getNamesrvConfig|getParentTopicInfo|getSyncStateSet|getUser|haStatus|listAcl|listUser|printMsg|printMsgByQueue|producer|producerConnection|queryCq|queryMsgById|queryMsgByKey|queryMsgByOffset|queryMsgByUniqueKey|queryMsgTraceById|remappingStaticTopic|removeBroker|removeColdDataFlowCtrGroupConfig|resetMasterFlushOffset|resetOffsetByTime|rocksDBConfigToJson|sendMessage|sendMsgStatus|setCommitLogReadAheadMode|setConsumeMode|skipAccumulatedMessage|startMonitoring|statsAll|switchTimerEngine|topicClusterList|topicList|topicRoute|topicStatus|triggerLiteDispatch|updateAcl|updateAclConfig|updateBrokerConfig|updateColdDataFlowCtrGroupConfig|updateControllerConfig|updateGlobalWhiteAddr|updateKvConfig|updateNamesrvConfig|updateOrderConf|updateStaticTopic|updateSubGroup|updateSubGroupList|updateTopic|updateTopicList|updateTopicPerm|updateUser|wipeWritePerm A command of mqadmin; all if left out.'); columns = 'mqadmin|nsadmin|status|since|note|'
        }
        'reportrun' = @{
            name = 'report run'; family = 'program'; help = 'Compute reports from journals and logs'
            places = @()
            options = @('--input=folders read journals, or logs of Java servers, in this folder and below (may contain *); repeatable', '--source= the same, for the server NAME (''*=DIR/*/logs'': the first * is the name); repeatable', '--dir=folders folder of the tables and reports', '--since= report on events from this time on: ISO 8601 (UTC without a zone), 7d for a week ago (m, h, d, w), or ms since 1970', '--until= report on events before this time', '--reports= compute only these reports', '--max-quarantine= exit with code 3 if more than this share of the lines is unreadable: 1%, 0.01 (default: 1%)', '--master= Spark master: local[4], spark://HOST:PORT, yarn (default: local[*])', '--conf= Spark setting, such as spark.driver.memory=4g; repeatable', '--compact then merge small files of the tables, up to 128 MiB'); columns = ''
        }
        'reportstream' = @{
            name = 'report stream'; family = 'program'; help = 'Compute reports continuously'
            places = @()
            options = @('--input=folders read journals, or logs of Java servers, in this folder and below (may contain *); repeatable', '--source= the same, for the server NAME (''*=DIR/*/logs'': the first * is the name); repeatable', '--dir=folders folder of the tables and reports', '--since= report on events from this time on: ISO 8601 (UTC without a zone), 7d for a week ago (m, h, d, w), or ms since 1970', '--until= report on events before this time', '--reports= compute only these reports', '--max-quarantine= exit with code 3 if more than this share of the lines is unreadable: 1%, 0.01 (default: 1%)', '--master= Spark master: local[4], spark://HOST:PORT, yarn (default: local[*])', '--conf= Spark setting, such as spark.driver.memory=4g; repeatable', '--once process the existing data and exit, for cron', '--every= time between two checks for new data: 30s, 5m (default: 60s)'); columns = ''
        }
        'lab' = @{
            name = 'lab'; family = 'program'; help = 'Run a name server with simulated brokers'
            places = @('=up|run|list| ', '=acting-master|address-conflict|drift|flapping-broker|name-server-pause|name-server-waits|no-route|quiet-day|reconnect-storm|rolling-restart|split-brain|topic-explosion|undone-wipe| scenario to play: a built-in name or a YAML file; the cluster keeps running after its end')
            options = @('--clusters= clusters (2)', '--groups= broker groups in each cluster (3)', '--replicas= brokers in each group, master included (2)', '--topics= topics in each cluster, without system topics (40)', '--namesrvs= number of name servers (1)', '--scenario=acting-master|address-conflict|drift|flapping-broker|name-server-pause|name-server-waits|no-route|quiet-day|reconnect-storm|rolling-restart|split-brain|topic-explosion|undone-wipe| scenario to play: a built-in name or a YAML file; the cluster keeps running after its end', '--namesrv-port= port of the first name server, the others get the next ports; 0 selects free ports (0)', '--broker-port= port of the first broker, the others get every tenth port; 0 selects free ports (0)', '--no-context do not write the context "lab"', '-n,--namesrvAddr= register the brokers with these name servers (separated by ; or ,) and start none', '--speed= virtual seconds per real second at most, or max (up: 1, run: max)', '--dir=folders folder for journals and truth.jsonl (a temporary folder)', '--seed= seed of the random numbers that choose the topics and clients (1, or the scenario''s)', '--until= duration of the run (the scenario''s): 90s, 10m, 2h', '--java-logs=4.x|5.x| also write the logs that Java name servers of this release would write'); columns = ''
        }
        'namesrv' = @{
            name = 'namesrv'; family = 'program'; help = 'Run a name server'
            places = @()
            options = @('-c,--configFile=files configuration file (Java properties); UPDATE_NAMESRV_CONFIG writes to it', '-D= set a setting of -p, of docs/reference/limits.md or of TLS, such as -Dtls.server.mode=enforcing, or set NAMESRV_TLS_SERVER_MODE=enforcing in the environment', '-p,--printConfigItem print RocketMQ''s settings and the changed ones of nsadmin, and exit', '-n,--namesrvAddr= accepted for compatibility, has no effect', '--port= port to listen on (9876); 0 selects a free port', '--bind= address to listen on (0.0.0.0)', '--home=folders folder of kvConfig.json and namesrv.properties (~/namesrv)', '--journal-dir=folders write a journal to this folder (journal/ in --home)', '--http= serve /metrics, /healthz, /readyz and /rocketmq/nsaddr on this port (no HTTP); without ADDR only on 127.0.0.1', '--credentials=files access rules (all clients may do everything): see docs/how-to/secure-the-name-server.md', '--read-only refuse all changes by operators', '--no-remote-config refuse UPDATE_NAMESRV_CONFIG', '--log-format=text|json| format of the log on stderr (text)', '--log-level=DEBUG|INFO|WARN|ERROR| lowest level to log: DEBUG, INFO, WARN or ERROR (INFO); SIGUSR2 toggles DEBUG', '--no-journal write no journal'); columns = ''
        }
        'completion' = @{
            name = 'completion'; family = 'program'; help = 'Print the completion script of a shell'
            places = @('=bash|zsh|fish|powershell| the shell')
            options = @(); columns = ''
        }
        'tui' = @{
            name = 'tui'; family = 'screen'; help = 'Watch and operate the cluster in the terminal'
            places = @('--screen= The screen to begin with; brokers if left out.')
            options = @(); columns = ''
        }
        'batch' = @{
            name = 'batch'; family = 'batch'; help = 'Run many commands over the same connections'
            places = @('-f,--file=files A file of command lines; - is stdin.')
            options = @(); columns = ''
        }
        'audit' = @{
            name = 'audit'; family = 'group'; help = 'The record of changes made from this account'
            places = @('=list| ')
            options = @(); columns = ''
        }
        'bench' = @{
            name = 'bench'; family = 'group'; help = 'Throughput and latency of a cluster, measured with a bounded load'
            places = @('=produce|consume|latency| ')
            options = @(); columns = ''
        }
        'check' = @{
            name = 'check'; family = 'group'; help = 'Checks for monitoring systems'
            places = @('=all|namesrv|brokers|divergence|topic|writable|lag|heartbeat|registrationSize|certificates|journal|drain| ')
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
        'repair' = @{
            name = 'repair'; family = 'group'; help = 'Registrations that name servers and broker disagree about'
            places = @('=wipe|register| ')
            options = @(); columns = ''
        }
        'report' = @{
            name = 'report'; family = 'group'; help = 'Availability and drain reports from journals and logs'
            places = @('=run|stream|show|html|markdown| ')
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
        'help' = @{
            name = 'help'; family = 'help'; help = 'Help for a command or a group'
            places = @('=commands ')
            options = @(); columns = ''
        }
    }
    $families = @{
        'read' = @('--context=contexts Use the name servers, TLS settings and credentials of this context.', '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.', '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.', '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.', '--tls,--no-tls Use TLS, or plain connections.', '--tlsCa=files Trust these CA certificates (PEM) instead of the system''s.', '--tlsCert=files Client certificate (PEM).', '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.', '--tlsServerName= Name that certificates of servers must contain.', '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.', '--timeout= Time limit of each request (default: 3).', '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).', '--concurrency= Number of servers to ask at the same time (default: 64).', '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Output format: table, wide, json, jsonl, yaml, csv, spreadsheet, tsv, name, value, mqadmin (default: table).', '--json Short for --output json.', '--no-headers Print tables, CSV and TSV without headings.', '--no-color Print no colours.', '--watch= Repeat the command at this interval until Ctrl-C.', '--columns=columns Print only these columns, in this order.', '--sort=columns Sort by these columns. Prefix one with - for descending order.', '--filter=columns Print only rows such as perm!=6, inTps>100 or topic~^order. Operators: = != < <= > >= ~ !~. Repeatable.', '--quiet Print nothing but errors on stderr.', '--debug Print each request, and tracebacks, on stderr.', '-h,--help Show this help.')
        'change' = @('--context=contexts Use the name servers, TLS settings and credentials of this context.', '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.', '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.', '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.', '--tls,--no-tls Use TLS, or plain connections.', '--tlsCa=files Trust these CA certificates (PEM) instead of the system''s.', '--tlsCert=files Client certificate (PEM).', '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.', '--tlsServerName= Name that certificates of servers must contain.', '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.', '--timeout= Time limit of each request (default: 3).', '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).', '--concurrency= Number of servers to ask at the same time (default: 64).', '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Output format: table, wide, json, jsonl, yaml, csv, spreadsheet, tsv, name, value, mqadmin (default: table).', '--json Short for --output json.', '--no-headers Print tables, CSV and TSV without headings.', '--no-color Print no colours.', '--dry-run Show what would change, and change nothing.', '-y,--yes Change without asking for confirmation.', '--quiet Print nothing but errors on stderr.', '--debug Print each request, and tracebacks, on stderr.', '-h,--help Show this help.')
        'mixed' = @('--context=contexts Use the name servers, TLS settings and credentials of this context.', '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.', '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.', '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.', '--tls,--no-tls Use TLS, or plain connections.', '--tlsCa=files Trust these CA certificates (PEM) instead of the system''s.', '--tlsCert=files Client certificate (PEM).', '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.', '--tlsServerName= Name that certificates of servers must contain.', '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.', '--timeout= Time limit of each request (default: 3).', '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).', '--concurrency= Number of servers to ask at the same time (default: 64).', '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Output format: table, wide, json, jsonl, yaml, csv, spreadsheet, tsv, name, value, mqadmin (default: table).', '--json Short for --output json.', '--no-headers Print tables, CSV and TSV without headings.', '--no-color Print no colours.', '--columns=columns Print only these columns, in this order.', '--sort=columns Sort by these columns. Prefix one with - for descending order.', '--filter=columns Print only rows such as perm!=6, inTps>100 or topic~^order. Operators: = != < <= > >= ~ !~. Repeatable.', '--dry-run Show what would change, and change nothing.', '-y,--yes Change without asking for confirmation.', '--quiet Print nothing but errors on stderr.', '--debug Print each request, and tracebacks, on stderr.', '-h,--help Show this help.')
        'check' = @('--context=contexts Use the name servers, TLS settings and credentials of this context.', '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.', '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.', '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.', '--tls,--no-tls Use TLS, or plain connections.', '--tlsCa=files Trust these CA certificates (PEM) instead of the system''s.', '--tlsCert=files Client certificate (PEM).', '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.', '--tlsServerName= Name that certificates of servers must contain.', '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.', '--timeout= Time limit of each request (default: 3).', '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).', '--concurrency= Number of servers to ask at the same time (default: 64).', '--format=text|nagios|json|prometheus Output format (default: text). nagios is for plugins, prometheus for a textfile collector.', '--json Short for --format json.', '--output-file=files Write the result to this file, atomically, and nothing to stdout.', '--wait-until-ok= Repeat the check until it is OK, at most for this time: 90s, 5m, 1h.', '--quiet Print nothing but errors on stderr.', '--debug Print each request, and tracebacks, on stderr.', '-h,--help Show this help.')
        'local' = @('--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Output format: table, wide, json, jsonl, yaml, csv, spreadsheet, tsv, name, value, mqadmin (default: table).', '--json Short for --output json.', '--no-headers Print tables, CSV and TSV without headings.', '--no-color Print no colours.', '--watch= Repeat the command at this interval until Ctrl-C.', '--columns=columns Print only these columns, in this order.', '--sort=columns Sort by these columns. Prefix one with - for descending order.', '--filter=columns Print only rows such as perm!=6, inTps>100 or topic~^order. Operators: = != < <= > >= ~ !~. Repeatable.', '--quiet Print nothing but errors on stderr.', '--debug Print each request, and tracebacks, on stderr.', '-h,--help Show this help.')
        'program' = @('-h,--help show this help message and exit')
        'screen' = @('--screen= The screen to begin with; brokers if left out.', '--interval= From one look at a server to the next; 5 if left out.', '-s,--namespace= KV namespace to look at beside ORDER_TOPIC_CONFIG. Repeatable.', '--journal=folders Journal whose events are shown; else the context''s. Repeatable.', '--read-only Nothing can be changed from here.', '--record=files Keep all that is seen, to be played again.', '--replay= Play such a file, or a folder with journals, instead.', '--speed= Of a replay: so many seconds in one; 1 if left out.', '--context=contexts Use the name servers, TLS settings and credentials of this context.', '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.', '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.', '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.', '--tls,--no-tls Use TLS, or plain connections.', '--tlsCa=files Trust these CA certificates (PEM) instead of the system''s.', '--tlsCert=files Client certificate (PEM).', '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.', '--tlsServerName= Name that certificates of servers must contain.', '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.', '--timeout= Time limit of each request (default: 3).', '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).', '--concurrency= Number of servers to ask at the same time (default: 64).', '--quiet Print nothing but errors on stderr.', '--debug Print each request, and tracebacks, on stderr.', '-h,--help Show this help.')
        'batch' = @('-f,--file=files A file of command lines; - is stdin.', '--stop-on-error End at the first that fails.', '--context=contexts Use the name servers, TLS settings and credentials of this context.', '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.', '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.', '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.', '--tls,--no-tls Use TLS, or plain connections.', '--tlsCa=files Trust these CA certificates (PEM) instead of the system''s.', '--tlsCert=files Client certificate (PEM).', '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.', '--tlsServerName= Name that certificates of servers must contain.', '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.', '--timeout= Time limit of each request (default: 3).', '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).', '--concurrency= Number of servers to ask at the same time (default: 64).', '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Output format: table, wide, json, jsonl, yaml, csv, spreadsheet, tsv, name, value, mqadmin (default: table).', '--json Short for --output json.', '--no-headers Print tables, CSV and TSV without headings.', '--no-color Print no colours.', '--dry-run Show what would change, and change nothing.', '-y,--yes Change without asking for confirmation.', '--quiet Print nothing but errors on stderr.', '--debug Print each request, and tracebacks, on stderr.', '-h,--help Show this help.')
        'group' = @()
        'help' = @()
        'front' = @('--context=contexts Use the name servers, TLS settings and credentials of this context.', '-n,--namesrvAddr=name-servers Name servers: HOST:PORT;HOST:PORT. Repeatable.', '--configFile=files Read name servers from a properties file: namesrvAddr, rocketmq.namesrv.addr or .domain.', '--endpoint= Get the name servers from this URL, or from a domain as Java clients do.', '--addressMap= Reach brokers at another address, for example 10.0.0.0/8=gateway:10911. Repeatable.', '--credentials= Sign requests with credentials from env, file:PATH, tools:PATH or keyring:NAME. none: do not sign.', '--tls,--no-tls Use TLS, or plain connections.', '--tlsCa=files Trust these CA certificates (PEM) instead of the system''s.', '--tlsCert=files Client certificate (PEM).', '--tlsKey=files Private key of the client certificate (PEM). NSADMIN_KEY_PASSWORD has its password.', '--tlsServerName= Name that certificates of servers must contain.', '--insecure Do not verify certificates, and sign requests anyway. Implies --tls.', '--timeout= Time limit of each request (default: 3).', '--retries= Repeat a read up to N times if a server does not answer, after growing pauses (default: 0).', '--concurrency= Number of servers to ask at the same time (default: 64).', '--output=table|wide|json|jsonl|yaml|csv|spreadsheet|tsv|name|value|mqadmin Output format: table, wide, json, jsonl, yaml, csv, spreadsheet, tsv, name, value, mqadmin (default: table).', '--json Short for --output json.', '--no-headers Print tables, CSV and TSV without headings.', '--no-color Print no colours.', '--watch= Repeat the command at this interval until Ctrl-C.', '--columns=columns Print only these columns, in this order.', '--sort=columns Sort by these columns. Prefix one with - for descending order.', '--filter=columns Print only rows such as perm!=6, inTps>100 or topic~^order. Operators: = != < <= > >= ~ !~. Repeatable.', '--quiet Print nothing but errors on stderr.', '--debug Print each request, and tracebacks, on stderr.', '-h,--help Show this help.', '--dry-run Show what would change, and change nothing.', '-y,--yes Change without asking for confirmation.', '--version Show the version and exit.')
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
