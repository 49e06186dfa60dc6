// Released name servers and brokers in one process: their classes are loaded and compiled once. Each line of input
// is an order, answered with a line "done ORDER": "namesrv HOME FILE", "broker HOME FILE", "stop FILE".

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.HashMap;
import java.util.Map;
import org.apache.rocketmq.broker.BrokerController;
import org.apache.rocketmq.broker.BrokerStartup;
import org.apache.rocketmq.namesrv.NamesrvController;
import org.apache.rocketmq.namesrv.NamesrvStartup;

public class Servers {
    public static void main(String[] args) throws Exception {
        Map<String, Runnable> stops = new HashMap<>();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        System.out.println("ready");
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            if (words[0].equals("stop")) {
                new Thread(stops.remove(words[1])).start();
            } else {
                System.setProperty("rocketmq.home.dir", words[1]);
                System.setProperty("user.home", words[1]);
                String[] file = {"-c", words[2]};
                if (words[0].equals("namesrv")) {
                    NamesrvController server = NamesrvStartup.main0(file);
                    stops.put(words[2], server::shutdown);
                } else {
                    BrokerController broker = BrokerStartup.createBrokerController(file);
                    BrokerStartup.start(broker);
                    stops.put(words[2], broker::shutdown);
                }
            }
            System.out.println("done " + line);
        }
    }
}
