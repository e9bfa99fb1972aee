"""A stand-in for CoppeliaSim on a port of its own: it answers by function and arguments, in any order.

Answers come from the recorded conversation with a real server where it has them (RecordedSession), else from a small
scene that MuJoCo simulates (SimulatedScene). Faults can be set while it runs.
"""

import json
import shutil
import tempfile
import threading
import time
import xml.etree.ElementTree as ET
from pathlib import Path

import cbor2
import numpy as np
import zmq

from strapdown.engines.mujoco.plant import MujocoPlant
from strapdown.engines.mujoco.robot_file import RobotFile
from strapdown.engines.parts import Motor, Physics, Start
from strapdown.rotation import q_from_euler, q_mul, q_rotate

WAIT, EXECUTED = "_*wait*_", "_*executed*_"
END = "_*end*_"
STOP_PASSES = 3  # of the simulator, between the call and the stop
NO_SUCH_PATH = "1254: in sim._getObject: object does not exist, or alias/path is ill formatted."
NO_SUCH_OBJECT = "354: in sim.getObjectPose: object does not exist."
TIME_STEP, PHYSICS_STEP, GRAVITY = 1, 5, 0  # constants of sim: floatparam_*, arrayparam_gravity
MODE = 2039  # jointintparam_dynctrlmode
KINDS = {4: "speed", 8: "position", 1: "torque"}  # jointdynctrl_*; 0 is free
RECORDED_URDF = "two_link.urdf"


class RecordedSession:
    """The recorded conversation: what was asked once is answered as it was, at the step it belongs to."""

    def __init__(self, file):
        self.fixed, self.by_step, self.waits, self.seen = {}, {}, [], set()
        step = 0
        for line in file.read_text(encoding="utf-8").splitlines():
            exchange = json.loads(line)
            request, reply = exchange["request"], exchange["reply"]
            function, arguments = request["func"], request["args"] or []
            if reply.get("func") == WAIT:
                if function == "sim.step":
                    self.waits.append(0)
                self.waits[-1] += 1
                continue
            if function == EXECUTED:  # the end of a step
                step += 1
                continue
            key = _key(function, arguments)
            self.seen.add(function)
            if function in ("sim.getSimulationTime", "sim.getObjectVelocity") or key == _key("sim.getObjectPose", [23]):
                self.by_step.setdefault(key, []).append(reply)
            else:
                self.fixed[key] = reply
        self.seen.add("sim.step")
        self.imported, self.step = False, 0

    def answer(self, function, arguments):
        """The recorded reply, or None."""
        if function == "simURDF.importFile" and arguments[0].endswith(f"/{RECORDED_URDF}"):
            arguments = [RECORDED_URDF]
        key = _key(function, arguments)
        if function == "simURDF.importFile" and key in self.fixed:
            self.imported = True
        if key in self.fixed and (self.imported or function.startswith("zmqRemoteApi.") or "err" in self.fixed[key]):
            if function in ("sim.startSimulation", "sim.stopSimulation"):
                self.step = 0
            return self.fixed[key]
        if not self.imported:
            return None
        if key == _key("sim.getObjectPose", [22]):  # the recorded dummy sits on this link without an offset
            key = _key("sim.getObjectPose", [23])
        if key in self.by_step:
            rows = self.by_step[key]
            return rows[self.step] if self.step < len(rows) else {"err": "the recording is over"}
        return None


def _key(function, arguments):
    return function, json.dumps(arguments)


class SimulatedScene:
    """Robots imported from URDF files, one clock. dt and gravity may be kept as float32, as the simulator may."""

    def __init__(self, float32=False):
        self.kept = np.float32 if float32 else np.float64
        self.parameters = {TIME_STEP: self.kept(0.05), PHYSICS_STEP: self.kept(0.005)}
        self.gravity = [0.0, 0.0, float(self.kept(-9.81))]
        self.robots, self.objects, self.floor = [], {}, False
        self.t, self.running, self.stepping, self.frozen, self.removed = 0.0, False, False, False, []
        self.stopping = 0
        self.folder = tempfile.TemporaryDirectory()
        self.next, self.engine = 100, 4

    def answer(self, function, arguments):
        name = function.removeprefix("sim.").replace("simURDF.", "")
        if not hasattr(self, f"do_{name}"):
            raise LookupError(f"in {function}: the stand-in does not know this function")
        return getattr(self, f"do_{name}")(*arguments)

    def _new(self, what):
        self.next += 1
        self.objects[self.next] = what
        return self.next

    def _object(self, handle):
        if handle not in self.objects:
            raise LookupError(NO_SUCH_OBJECT)
        return self.objects[handle]

    # objects

    def do_importFile(self, path, options=0, *_):
        assert options & 32, "else the real importer centres the robot above the ground"
        copy = Path(self.folder.name) / f"robot_{self.next}.urdf"
        shutil.copy(path, copy)
        root = ET.parse(copy).getroot()
        if len(root.findall("link")) == 1 and root.find("link/inertial") is None:
            self.floor = True
            return [root.get("name"), [self._new(("floor", root.get("name")))]]
        robot = _Robot(self, copy, root)
        self.robots.append(robot)
        return [root.get("name"), [robot.base]]

    def do_getObject(self, path, *_):
        for robot in self.robots:
            for handle, alias in robot.aliases.items():
                tail = f"/{robot.aliases[robot.base]}" + ("" if handle == robot.base else f"/{alias}")
                if handle in self.objects and path == tail:
                    return [handle]
        raise LookupError(NO_SUCH_PATH)

    def do_getObjectPose(self, handle, *_):
        robot, link = self._object(handle)
        p_n, q_nb = robot.pose(link)
        w, x, y, z = q_nb.tolist()
        return [[*p_n.tolist(), x, y, z, w]]

    def do_setObjectPose(self, handle, pose, *_):
        robot, _ = self._object(handle)
        robot.place(np.array(pose[:3]), np.array([pose[6], *pose[3:6]]))
        return []

    def do_removeModel(self, handle):
        kind, _ = self._object(handle)
        self.removed.append(handle)
        self.floor &= kind != "floor"
        self.robots = [robot for robot in self.robots if robot.base != handle]
        return [1]

    # clock

    def do_getSimulationTime(self):
        return [self.t]

    def do_getSimulationTimeStep(self):
        return [float(self.parameters[TIME_STEP])]

    def do_getSimulationState(self):
        self.stopping = max(self.stopping - 1, 0)
        return [17 if self.running else 21 if self.stopping else 0]

    def do_getFloatParam(self, key):
        return [float(self.parameters[key])]

    def do_setFloatParam(self, key, value):
        if not self.running and not self.stopping:  # CSimulation::setTimeStep: else nothing happens
            self.parameters[key] = self.kept(value)
        return []

    def do_getInt32Param(self, key):
        return [self.engine]

    def do_setInt32Param(self, key, value):
        self.engine = value
        return []

    def do_getArrayParam(self, key):
        assert key == GRAVITY
        return [list(self.gravity)]

    def do_setArrayParam(self, key, values):
        self.gravity = [float(self.kept(x)) for x in values]
        return []

    def do_setStepping(self, on):
        self.stepping = on
        return [0]

    def do_startSimulation(self):
        assert not self.stopping, "the simulator does not start while it stops"
        self.t, self.running = 0.0, True
        for robot in self.robots:
            robot.start()
        return []

    def do_stopSimulation(self, passes=0):
        """passes: the simulator is asked so often until it has stopped (CSimulation::stopSimulation asks for it)."""
        self.t, self.running, self.stepping, self.stopping = 0.0, False, False, passes
        for robot in self.robots:
            robot.plant = None
        return []

    def do_step(self):
        if self.running:
            self.advance()
        return []

    def advance(self):
        self.t += float(self.parameters[TIME_STEP])
        for robot in self.robots if not self.frozen else ():
            robot.plant.advance_to(self.t)

    # joints and forces

    def do_setObjectInt32Param(self, handle, key, value):
        robot, joint = self._object(handle)
        assert key == MODE and not self.running
        robot.modes[joint] = value
        return []

    def do_setJointPosition(self, handle, value):
        robot, joint = self._object(handle)
        robot.begin[joint], robot.plant = value, None
        return []

    def do_getJointPosition(self, handle):
        robot, joint = self._object(handle)
        return [float(robot.live().joint_position(joint))]

    def do_setJointTargetForce(self, handle, value, *_):
        robot, joint = self._object(handle)
        if robot.modes.get(joint) == 1:
            robot.command(joint, value)
        else:
            robot.most[joint] = value
        return []

    def do_setJointTargetVelocity(self, handle, value, *_):
        robot, joint = self._object(handle)
        robot.command(joint, value)
        return []

    do_setJointTargetPosition = do_setJointTargetVelocity

    def do_addForceAndTorque(self, handle, force, torque):
        robot, link = self._object(handle)
        if not self.frozen:
            robot.live().push(link, force, torque, float(self.parameters[TIME_STEP]))
        return []


class _Robot:
    """Links have objects whose frames lie in their first collision shape, as the real importer makes them."""

    def __init__(self, scene, file, root):
        self.scene, self.file = scene, file
        links = {link.get("name"): link for link in root.findall("link")}
        children = {joint.find("child").get("link") for joint in root.findall("joint")}
        (self.root,) = [name for name in links if name not in children]
        self.floating = links[self.root].find("inertial") is not None
        self.position, self.q = None, None
        self.modes, self.most, self.begin, self.targets, self.plant = {}, {}, {}, {}, None
        self.offset = {name: _first_shape(link) for name, link in links.items()}
        self.aliases = {scene._new((self, name)): f"{name}_respondable" for name in links}
        self.base = next(h for h, alias in self.aliases.items() if alias == f"{self.root}_respondable")
        moving = [joint.get("name") for joint in root.findall("joint") if joint.get("type") != "fixed"]
        self.aliases |= {scene._new((self, name)): name for name in moving}

    def live(self):
        if self.plant is None:
            self._build([])
        return self.plant

    def _build(self, motors):
        robot = RobotFile(self.file, self.floating, self.scene.floor, self.position, self.q)
        physics = Physics(-self.scene.gravity[2], float(self.scene.parameters[PHYSICS_STEP]), "euler")
        self.plant = MujocoPlant(robot, physics, motors, [Start(joint, at) for joint, at in self.begin.items()])

    def start(self):
        driven = {joint: KINDS[mode] for joint, mode in self.modes.items() if mode in KINDS}
        # explicit motors of one step are exact on a single joint; several joints couple and need a few steps
        settle_s = float(self.scene.parameters[PHYSICS_STEP]) * (1 if len(driven) == 1 else 4)
        motors = [
            Motor(joint, joint, kind, self.most.get(joint), None if kind == "position" else settle_s)
            for joint, kind in driven.items()
        ]
        self._build(motors)
        self.plant.command({motor.name: self.targets.get(motor.name, 0.0) for motor in motors})

    def command(self, joint, value):
        self.targets[joint] = value
        if self.scene.running and not self.scene.frozen:
            self.plant.command({joint: value})

    def place(self, p_n, q_no):
        arm, turn = self.offset[self.root]
        q_nb = q_mul(q_no, turn * [1, -1, -1, -1])
        self.position, self.q, self.plant = tuple(p_n - q_rotate(q_nb, arm)), tuple(q_nb), None

    def pose(self, link):
        body, (arm, turn) = self.live().placed().body(link), self.offset[link]
        q_nb = body.xquat.copy()
        return body.xpos + q_rotate(q_nb, arm), q_mul(q_nb, turn)


def _first_shape(link):
    origin = link.find("collision/origin")
    xyz, rpy = ("0 0 0", "0 0 0") if origin is None else (origin.get("xyz", "0 0 0"), origin.get("rpy", "0 0 0"))
    return np.array(xyz.split(), float), q_from_euler(*np.array(rpy.split(), float))


class StandIn:
    """The server, in a thread. Use it as a context; `address` is what a client is given.

    Faults, at any time: silent_after (calls answered before it falls silent), errors (function -> text), wrong
    (function -> what it answers instead), raw (function -> bytes), vanish_at (step at which all objects are gone),
    stop_at (step at which someone presses stop), waits_for_ever, close_after.
    """

    def __init__(self, recorded=None, float32=False):
        self.recorded = None if recorded is None else RecordedSession(recorded)
        self.scene = SimulatedScene(float32)
        self.errors, self.wrong, self.raw, self.asked = {}, {}, {}, []
        self.silent_after = self.close_after = self.vanish_at = self.stop_at = None
        self.waits_for_ever, self.steps, self.free_hz = False, 0, 0.0
        self._left, self._done = 0, None
        self.left, self.forgotten_s = 0, None  # clients that took leave; after how long a silent one is forgotten
        self._end = threading.Event()

    def __enter__(self):
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.REP)
        self._socket.setsockopt(zmq.LINGER, 0)
        self.address = f"localhost:{self._socket.bind_to_random_port('tcp://127.0.0.1')}"
        self._thread = threading.Thread(target=self._serve_and_close, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()
        self._context.term()
        self.scene.folder.cleanup()

    @property
    def functions(self):
        return {function for function, _ in self.asked}

    def _serve_and_close(self):
        try:
            self._serve()
        finally:
            self._socket.close(linger=0)

    def _serve(self):
        last = time.monotonic()
        while not self._end.is_set():
            if self._socket.poll(5):
                request = cbor2.loads(self._socket.recv())
                if self._is_over():
                    break
                self._socket.send(self._reply(request))
            if self.free_hz and self.scene.running and time.monotonic() - last > 1.0 / self.free_hz:
                self.scene.advance()
                last = time.monotonic()

    def _is_over(self):
        count = len(self.asked)
        if self.silent_after is not None and count >= self.silent_after:
            self._end.wait()
            return True
        return self.close_after is not None and count >= self.close_after

    def _reply(self, request):
        function, arguments = request["func"], list(request["args"] or [])
        self.forgotten_s = request.get("timeout", self.forgotten_s)
        if function == END:
            self.left += 1
            return cbor2.dumps({})
        if function != EXECUTED:
            self.asked.append((function, arguments))
        if function in self.raw:
            return self.raw[function]
        return cbor2.dumps(self._answer(function, arguments))

    def _answer(self, function, arguments):
        if function in self.errors:
            return {"err": self.errors[function]}
        if function in self.wrong:
            return {"ret": self.wrong[function]}
        if function == "sim.step" or function == EXECUTED:
            return self._step(function)
        found = None if self.recorded is None else self.recorded.answer(function, arguments)
        if found is not None:
            return found
        if function.startswith("zmqRemoteApi."):
            return {"ret": [] if function.endswith("require") else [_CONSTANTS]}
        if function == "sim.stopSimulation":
            arguments = [STOP_PASSES]
        try:
            return {"ret": self.scene.answer(function, arguments)}
        except Exception as error:  # the real server answers so, too
            return {"err": str(error.args[0]) if error.args else repr(error)}

    def _step(self, function):
        """Replies that it is not done yet come first, as many as were recorded, or one."""
        if self.waits_for_ever:
            return {"func": WAIT, "args": {}}
        if function == "sim.step":
            recorded = self.recorded is not None and self.recorded.imported
            self._left = self.recorded.waits[self.recorded.step] if recorded else 1
        if self._left > 0:
            self._left -= 1
            return {"func": WAIT, "args": {}}
        self.steps += 1
        if self.recorded is not None and self.recorded.imported:
            self.recorded.step += 1
        elif self.steps == self.stop_at:
            self.scene.do_stopSimulation()
        else:
            self.scene.do_step()
        if self.steps == self.vanish_at:
            self.scene.objects.clear()
        return {"ret": {}}


# for a stand-in without the recorded conversation, which lists them all
_CONSTANTS = {
    name: {"const": value}
    for name, value in {
        "floatparam_simulation_time_step": TIME_STEP,
        "floatparam_physicstimestep": PHYSICS_STEP,
        "arrayparam_gravity": GRAVITY,
        "simulation_stopped": 0,
        "intparam_dynamic_engine": 8,
        "physics_mujoco": 4,
        "physics_ode": 1,
        "jointintparam_dynctrlmode": MODE,
        "jointdynctrl_free": 0,
        "jointdynctrl_force": 1,
        "jointdynctrl_velocity": 4,
        "jointdynctrl_position": 8,
    }.items()
}
