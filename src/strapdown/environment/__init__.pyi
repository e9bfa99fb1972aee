# The public names of this package: __init__.py loads each at its first use.
from .rig import Rig as Rig, read_rig as read_rig
from .session.scenario.file import Scenario as Scenario, read_scenario as read_scenario
from .session.session import Session as Session, SessionStopped as SessionStopped
from .simulate import simulate as simulate
