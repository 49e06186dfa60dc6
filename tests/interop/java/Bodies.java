// Reads a topic from its first message to its last: Bodies NAME_SERVER TOPIC. It prints "body KEY SHA256" for each
// message. DefaultLitePullConsumer would not do: brokers of 4.9 do not know its requests.

import java.security.MessageDigest;
import org.apache.rocketmq.client.consumer.DefaultMQPullConsumer;
import org.apache.rocketmq.client.consumer.PullResult;
import org.apache.rocketmq.client.consumer.PullStatus;
import org.apache.rocketmq.common.message.MessageExt;
import org.apache.rocketmq.common.message.MessageQueue;

public class Bodies {
    public static void main(String[] args) throws Exception {
        DefaultMQPullConsumer consumer = new DefaultMQPullConsumer("body-readers");
        consumer.setNamesrvAddr(args[0]);
        consumer.start();
        for (MessageQueue queue : consumer.fetchSubscribeMessageQueues(args[1])) {
            PullResult page = consumer.pull(queue, "*", 0, 32);
            while (page.getPullStatus() == PullStatus.FOUND) {
                for (MessageExt message : page.getMsgFoundList()) {
                    StringBuilder digest = new StringBuilder();
                    for (byte part : MessageDigest.getInstance("SHA-256").digest(message.getBody())) {
                        digest.append(String.format("%02x", part));
                    }
                    System.out.println("body " + message.getKeys() + " " + digest);
                }
                page = consumer.pull(queue, "*", page.getNextBeginOffset(), 32);
            }
        }
        Runtime.getRuntime().halt(0);
    }
}
