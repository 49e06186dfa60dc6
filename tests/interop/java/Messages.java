// Sends messages of every kind and consumes the traced one: Messages NAME_SERVERS TOPIC BATCH_TOPIC.
// Prints a line for each: name, message id, offset id, queue, offset in the queue.

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.compression.CompressionType;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;

public class Messages {
    public static void main(String[] args) throws Exception {
        String topic = args[1];
        for (CompressionType way : CompressionType.values()) {
            DefaultMQProducer producer = producer(args[0], "packers-" + way, false);
            producer.setCompressType(way);
            producer.start();
            Message message = new Message(topic, "packed", way.name(), text(way.name()));
            print(way.name(), producer.send(message));
        }
        DefaultMQProducer tracing = producer(args[0], "tracers", true);
        tracing.start();
        DefaultMQProducer plain = producer(args[0], "plain", false);
        plain.start();
        byte[] bytes = {(byte) 0xff, (byte) 0xfe, 0, 1};
        print("binary", plain.send(new Message(topic, "binary", "twin", bytes)));
        print("twin", plain.send(new Message(topic, "binary", "twin", bytes)));
        Message traced = new Message(topic, "traced", "trace-key", "seen".getBytes(StandardCharsets.UTF_8));
        print("traced", tracing.send(traced));
        List<Message> batch = new ArrayList<>();
        for (int number = 0; number < 3; number++) {
            batch.add(new Message(args[2], "batched", "batch-" + number, ("inner " + number).getBytes()));
        }
        print("batch", plain.send(batch));
        tracing.shutdown();

        CountDownLatch consumed = new CountDownLatch(1);
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("trace-readers", true, null);
        consumer.setNamesrvAddr(args[0]);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(topic, "traced");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            consumed.countDown();
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        consumed.await(30, TimeUnit.SECONDS);
        consumer.shutdown();
        System.out.println("done " + consumed.getCount());
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static DefaultMQProducer producer(String servers, String group, boolean traced) {
        DefaultMQProducer producer = new DefaultMQProducer(group, traced, null);
        producer.setNamesrvAddr(servers);
        producer.setInstanceName(group);
        producer.setPollNameServerInterval(1000);
        return producer;
    }

    private static byte[] text(String name) {
        return (name + " 中文 ").repeat(1000).getBytes(StandardCharsets.UTF_8);
    }

    private static void print(String name, SendResult result) {
        System.out.println("sent " + name + " " + result.getMsgId() + " " + result.getOffsetMsgId()
            + " " + result.getMessageQueue().getQueueId() + " " + result.getQueueOffset());
    }
}
