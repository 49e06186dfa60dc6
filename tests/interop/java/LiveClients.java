// A consumer and a producer that stay: LiveClients NAME_SERVERS TOPIC [pop]; "pop" lets the broker share out
// the queues, which pops messages where a group is set to POP. Each line of input is an order:
// "send COUNT", "wait COUNT" (until that many were consumed), "leave" (the consumer; the producer stays).

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;

public class LiveClients {
    public static void main(String[] args) throws Exception {
        String servers = args[0];
        String topic = args[1];
        AtomicInteger consumed = new AtomicInteger();

        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(topic + "-consumer");
        consumer.setNamesrvAddr(servers);
        consumer.setInstanceName("live");
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setPersistConsumerOffsetInterval(500);
        consumer.setHeartbeatBrokerInterval(2000);
        consumer.setPollNameServerInterval(2000);
        consumer.setClientRebalance(args.length < 3);
        consumer.subscribe(topic, "TagA || TagB");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            consumed.addAndGet(messages.size());
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        DefaultMQProducer producer = new DefaultMQProducer(topic + "-producer");
        producer.setNamesrvAddr(servers);
        producer.start();

        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        System.out.println("ready");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            switch (words[0]) {
                case "send":
                    for (int number = 0; number < Integer.parseInt(words[1]); number++) {
                        producer.send(new Message(topic, "TagA", new byte[] {'x'}));
                    }
                    break;
                case "wait":
                    long deadline = System.currentTimeMillis() + 30_000;
                    while (consumed.get() < Integer.parseInt(words[1]) && System.currentTimeMillis() < deadline) {
                        Thread.sleep(20);
                    }
                    break;
                case "leave":
                    consumer.shutdown();
                    break;
                default:
                    throw new IllegalArgumentException(line);
            }
            System.out.println("done " + line + ", consumed " + consumed.get());
        }
        Runtime.getRuntime().halt(0);
    }
}
