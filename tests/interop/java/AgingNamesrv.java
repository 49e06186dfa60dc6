// The released name server of 4.9, which takes no shorter expiry: what it is told of becomes older than that.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import org.apache.rocketmq.namesrv.NamesrvController;
import org.apache.rocketmq.namesrv.NamesrvStartup;

public class AgingNamesrv {
    public static void main(String[] args) throws Exception {
        NamesrvController controller = NamesrvStartup.main0(args);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String address = input.readLine(); address != null; address = input.readLine()) {
            long longAgo = System.currentTimeMillis() - 121_000;
            controller.getRouteInfoManager().updateBrokerInfoUpdateTimestamp(address, longAgo);
        }
    }
}
