"""A simple consumer and a producer of the Python gRPC client that stay: ENDPOINT TOPIC GROUP."""

import sys

from rocketmq import ClientConfiguration, Credentials, FilterExpression, Message, Producer, SimpleConsumer

endpoint, topic, group = sys.argv[1:]
configuration = ClientConfiguration(endpoint, Credentials())
producer = Producer(configuration, (topic,))
producer.startup()
consumer = SimpleConsumer(configuration, group, {topic: FilterExpression("TagA")})
consumer.startup()
message = Message()
message.topic, message.body, message.tag = topic, b"x", "TagA"
producer.send(message)
print("ready", flush=True)
sys.stdin.read()
consumer.shutdown()
producer.shutdown()
