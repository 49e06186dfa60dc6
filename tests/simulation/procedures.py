"""The procedures that are simulated, by name."""

from tests.simulation.apply_run import ApplyRun
from tests.simulation.copy_run import CopyRun
from tests.simulation.drain_run import DrainRun
from tests.simulation.metadata_run import RestoreRun, TransferRun
from tests.simulation.offset_run import OffsetRun
from tests.simulation.ordered_run import OrderedRun
from tests.simulation.rebalance_run import RebalanceRun
from tests.simulation.removal_run import RemovalRun
from tests.simulation.replay_run import ReplayRun
from tests.simulation.restart_run import RestartRun
from tests.simulation.runner import MakeRun
from tests.simulation.scale_in_run import ScaleInRun

PROCEDURES: dict[str, MakeRun] = {
    "apply": ApplyRun,
    "copy": CopyRun,
    "drain": DrainRun,
    "offsets": OffsetRun,
    "ordered": OrderedRun,
    "rebalance": RebalanceRun,
    "removal": RemovalRun,
    "replay": ReplayRun,
    "restart": RestartRun,
    "restore": RestoreRun,
    "scale-in": ScaleInRun,
    "transfer": TransferRun,
}
