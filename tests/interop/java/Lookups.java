// Asks for routes and sends, one after the other without a pause, until a line comes in:
// Lookups NAME_SERVERS TOPIC. Says when it found 10 and 101, and at the end
// how many it asked for and sent, and what failed first.

import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.rocketmq.client.impl.MQClientAPIImpl;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.message.Message;

public class Lookups {
    public static void main(String[] args) throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("lookups");
        if (!args[0].equals("-")) {
            producer.setNamesrvAddr(args[0]);
        }
        producer.setPollNameServerInterval(1000);
        producer.start();
        producer.send(new Message(args[1], new byte[] {'x'}));
        MQClientAPIImpl api = producer.getDefaultMQProducerImpl().getMqClientFactory().getMQClientAPIImpl();
        AtomicBoolean isOver = new AtomicBoolean();
        Thread reader = new Thread(() -> {
            try {
                System.in.read();
            } catch (java.io.IOException error) {
                // It is over as well.
            }
            isOver.set(true);
        });
        reader.setDaemon(true);
        reader.start();
        System.out.println("begun " + api.getNameServerAddressList());

        int asked = 0;
        int failed = 0;
        int unsent = 0;
        String first = "nothing";
        while (!isOver.get()) {
            asked++;
            try {
                api.getTopicRouteInfoFromNameServer(args[1], 3000);
            } catch (Exception error) {
                failed++;
                first = first.equals("nothing") ? error.toString() + " " + error.getCause() : first;
            }
            if (asked - failed == 10 || asked - failed == 101) {
                System.out.println("found " + (asked - failed) + " routes");
            }
            try {
                producer.send(new Message(args[1], new byte[] {'x'}));
            } catch (Exception error) {
                unsent++;
                first = first.equals("nothing") ? error.toString() : first;
            }
            Thread.sleep(2);
        }
        System.out.println("asked " + asked + " failed " + failed + " unsent " + unsent + " first " + first);
        Runtime.getRuntime().halt(0);
    }
}
