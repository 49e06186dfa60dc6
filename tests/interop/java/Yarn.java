import java.io.File;
import java.io.FileOutputStream;
import java.io.OutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/**
 * HDFS and YARN in this process: `Yarn FOLDER`. Their settings are written to FOLDER/conf, then "ready" is
 * said; they end with standard input.
 */
public class Yarn {
    public static void main(String[] args) throws Exception {
        File folder = new File(args[0]);
        Configuration settings = new YarnConfiguration();
        settings.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, folder + "/hdfs");
        settings.set("yarn.resourcemanager.hostname", "127.0.0.1");
        settings.set("yarn.resourcemanager.am.max-attempts", "1");
        settings.set("yarn.scheduler.minimum-allocation-mb", "128");
        settings.set("yarn.scheduler.capacity.root.queues", "default");
        settings.set("yarn.scheduler.capacity.root.default.capacity", "100");
        settings.set("yarn.scheduler.capacity.maximum-am-resource-percent", "1");
        settings.set("yarn.nodemanager.vmem-check-enabled", "false");
        settings.set("yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", "99");
        MiniDFSCluster files = new MiniDFSCluster.Builder(settings).numDataNodes(1).build();
        files.waitActive();
        MiniYARNCluster yarn = new MiniYARNCluster("nsadmin", 1, 1, 1);
        yarn.init(settings);
        yarn.start();
        if (!yarn.waitForNodeManagersToConnect(60_000)) {
            throw new IllegalStateException("no node came");
        }
        File conf = new File(folder, "conf");
        conf.mkdirs();
        save(files.getConfiguration(0), new File(conf, "core-site.xml"));
        save(yarn.getConfig(), new File(conf, "yarn-site.xml"));
        System.out.println("ready");
        System.in.read();
        yarn.stop();
        files.shutdown();
        System.exit(0);
    }

    private static void save(Configuration settings, File file) throws Exception {
        // Is of the tests of Hadoop: Spark does not have it.
        settings.unset("net.topology.node.switch.mapping.impl");
        try (OutputStream out = new FileOutputStream(file)) {
            settings.writeXml(out);
        }
    }
}
