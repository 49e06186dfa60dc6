// Sends and consumes COUNT messages through the Java client: Clients NAME_SERVERS TOPIC COUNT [ACCESS_KEY SECRET_KEY].

import java.nio.charset.StandardCharsets;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.rocketmq.acl.common.AclClientRPCHook;
import org.apache.rocketmq.acl.common.SessionCredentials;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendStatus;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.remoting.RPCHook;

public class Clients {
    public static void main(String[] args) {
        try {
            run(args);
        } catch (Throwable failure) {
            failure.printStackTrace(System.out);
            System.out.flush();
            Runtime.getRuntime().halt(1);
        }
    }

    private static void run(String[] args) throws Exception {
        RPCHook hook = args.length > 4 ? new AclClientRPCHook(new SessionCredentials(args[3], args[4])) : null;
        String servers = args[0];
        String topic = args[1];
        int count = Integer.parseInt(args[2]);
        Set<String> seen = ConcurrentHashMap.newKeySet();

        DefaultMQProducer producer = new DefaultMQProducer(topic + "-java-producer", hook);
        producer.setNamesrvAddr(servers);
        producer.start();
        for (int number = 0; number < count; number++) {
            Message message = new Message(topic, String.valueOf(number).getBytes(StandardCharsets.UTF_8));
            if (producer.send(message).getSendStatus() != SendStatus.SEND_OK) {
                throw new IllegalStateException("message " + number + " was not stored");
            }
        }

        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer(topic + "-java", hook);
        consumer.setNamesrvAddr(servers);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            for (MessageExt message : messages) {
                seen.add(new String(message.getBody(), StandardCharsets.UTF_8));
            }
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();

        long deadline = System.currentTimeMillis() + 60_000;
        while (seen.size() < count && System.currentTimeMillis() < deadline) {
            Thread.sleep(20);
        }
        System.out.println("sent " + count + " received " + seen.size());
        System.out.flush();
        Runtime.getRuntime().halt(seen.size() == count ? 0 : 1);
    }
}
