// What Java's clients share out by default: TOPIC QUEUES CLIENT,CLIENT BROKER... prints a line for each queue.

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely;
import org.apache.rocketmq.common.message.MessageQueue;

public class Allocation {
    public static void main(String[] args) {
        List<MessageQueue> queues = new ArrayList<>();
        for (String broker : Arrays.asList(args).subList(3, args.length)) {
            for (int queue = 0; queue < Integer.parseInt(args[1]); queue++) {
                queues.add(new MessageQueue(args[0], broker, queue));
            }
        }
        List<String> clients = new ArrayList<>(Arrays.asList(args[2].split(",")));
        Collections.sort(queues);
        Collections.sort(clients);
        for (String client : clients) {
            for (MessageQueue queue : new AllocateMessageQueueAveragely().allocate("G", client, queues, clients)) {
                System.out.println("share " + client + " " + queue.getBrokerName() + " " + queue.getQueueId());
            }
        }
    }
}
