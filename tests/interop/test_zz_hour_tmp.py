import json, subprocess, sys, pytest
from pathlib import Path
from contextlib import ExitStack
from tests.interop import jars, command_line
from tests.interop.java_parts import JavaBroker, MqAdmin
from tests.interop.our_server import OurNameServer
from tests.interop.cluster import wait_for_broker, wait_for_runtime_info
def main(home):
    with ExitStack() as ends:
        ns = ends.enter_context(OurNameServer(home/"ns"))
        old = ends.enter_context(JavaBroker(home/"old",[ns.address],"broker-old",version=jars.OLD))
        m5 = ends.enter_context(MqAdmin(home/"m5",[ns.address]))
        wait_for_broker([ns],"broker-old"); wait_for_runtime_info(old.port)
        def both(*line):
            theirs = m5.run(*line) if hasattr(m5,'run') else m5(*line)
            print("MQ", theirs)
            d = subprocess.run([sys.executable,"-m","nsadmin","-n",ns.address,"--output","mqadmin",*line],capture_output=True,text=True)
            print("NS", d.stdout, d.stderr)
        both("clusterList")
        d = subprocess.run([sys.executable,"-m","nsadmin","-n",ns.address,"brokerStatus","-b",f"127.0.0.1:{old.port}","--json"],capture_output=True,text=True)
        print([r for r in json.loads(d.stdout) if "earliest" in r["key"]])
def test_it(tmp_path): main(tmp_path)
