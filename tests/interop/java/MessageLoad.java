// What the Java client sends to and reads from a topic: MessageLoad NAME_SERVER TOPIC COUNT BYTES. It keeps 64 sends
// under way, then reads all messages with a lite pull consumer. It prints "produced RATE" and "consumed RATE", in
// messages per second. A quarter as many messages come first, to warm the JVM up.

import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.rocketmq.client.consumer.DefaultLitePullConsumer;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.client.producer.SendCallback;
import org.apache.rocketmq.client.producer.SendResult;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.apache.rocketmq.common.message.MessageExt;

public class MessageLoad {
    static final int UNDER_WAY = 64;

    public static void main(String[] args) throws Exception {
        int count = Integer.parseInt(args[2]);
        byte[] body = new byte[Integer.parseInt(args[3])];
        DefaultMQProducer producer = new DefaultMQProducer("message-load");
        producer.setNamesrvAddr(args[0]);
        producer.setSendMsgTimeout(30_000);
        producer.setCompressMsgBodyOverHowmuch(Integer.MAX_VALUE);
        producer.start();
        send(producer, args[1], count / 4, body);
        long begun = System.nanoTime();
        send(producer, args[1], count, body);
        System.out.println("produced " + count * 1e9 / (System.nanoTime() - begun));

        DefaultLitePullConsumer consumer = new DefaultLitePullConsumer("message-load-reader");
        consumer.setNamesrvAddr(args[0]);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setPullBatchSize(32);
        consumer.subscribe(args[1], "*");
        consumer.start();
        int read = 0;
        long first = 0;
        while (read < count + count / 4) {
            List<MessageExt> messages = consumer.poll(5000);
            if (first == 0 && !messages.isEmpty()) {
                first = System.nanoTime();
            }
            read += messages.size();
        }
        System.out.println("consumed " + read * 1e9 / (System.nanoTime() - first));
        Runtime.getRuntime().halt(0);
    }

    static void send(DefaultMQProducer producer, String topic, int count, byte[] body) throws Exception {
        Semaphore free = new Semaphore(UNDER_WAY);
        AtomicInteger failed = new AtomicInteger();
        for (int number = 0; number < count; number++) {
            free.acquire();
            producer.send(new Message(topic, body), new SendCallback() {
                public void onSuccess(SendResult result) {
                    free.release();
                }

                public void onException(Throwable error) {
                    failed.incrementAndGet();
                    free.release();
                }
            });
        }
        free.acquire(UNDER_WAY);
        if (failed.get() > 0) {
            System.out.println("failed " + failed.get());
        }
    }
}
