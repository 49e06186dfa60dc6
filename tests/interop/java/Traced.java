// Sends a message and consumes it, both with traces on: Traced NAME_SERVERS TOPIC. Prints the message's ids, and
// stays: traces are sent some time later, and lost with who ends before. It needs nothing that clients before 5.0
// do not have.

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;

public class Traced {
    public static void main(String[] args) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("tracers", true);
        producer.setNamesrvAddr(args[0]);
        producer.start();
        SendResult sent = producer.send(new Message(args[1], "traced", "trace-key", "seen".getBytes()));

        CountDownLatch consumed = new CountDownLatch(1);
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("trace-readers", true);
        consumer.setNamesrvAddr(args[0]);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.subscribe(args[1], "traced");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            consumed.countDown();
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        consumed.await(30, TimeUnit.SECONDS);
        System.out.println("traced " + sent.getMsgId() + " " + sent.getOffsetMsgId() + " " + consumed.getCount());
        System.out.flush();
        System.in.read();
        Runtime.getRuntime().halt(0);
    }
}
