"""Between the pages and the simulation: forwards commands, keeps samples and the newest state, wakes the clients."""

import asyncio
import json
from typing import Any

import numpy as np

from strapdown.errors import InputError
from strapdown.studio import messages as m
from strapdown.studio.buffers import CHART_HZ, FRAME_HZ, SLOW_HZ, Buffers
from strapdown.studio.messages import commands as c
from strapdown.studio.server.client import PER_S, Client, Now
from strapdown.studio.server.history import history_message
from strapdown.studio.server.layouts import Layouts
from strapdown.studio.server.samples import Places, Samples
from strapdown.studio.server.simulation_process import Settings, SimulationProcess

# messages that describe the present state, in the order in which a new client gets them
_STATE = ("session", "sensors", "signals", "diagram", "faults", "scene", "lights", "device", "takes", "calibration")
_MOST_WAITING = 500  # commands that the simulation has not taken yet


class Hub:
    """All methods run in the event loop."""

    def __init__(self, settings: Settings, layouts: Layouts) -> None:
        self._settings, self._layouts = settings, layouts
        self.buffers: Buffers = settings.buffers
        self.clients: dict[int, Client] = {}
        self._numbers = 0
        self._state: dict[str, str] = {}
        self._events: list[Any] = []
        self._hello: dict[str, Any] = {}
        self._now: Now | None = None
        self._samples: Samples | None = None
        self._tails: dict[int, tuple[Samples, Places]] = {}  # samples of takes
        self._places: Places = {}
        self._epoch = self._sequence = 0
        self._files: dict[int, asyncio.Future[tuple[str | None, str, str]]] = {}
        self._slow = 0
        self.ended_with = ""
        self.failed = ""
        self.closing = False

    async def start(self) -> None:
        """Start the simulation and wait until it is ready. InputError: it cannot start."""
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[None] = self._loop.create_future()
        self._launch()
        await self._ready

    def _launch(self) -> None:
        self._simulation = SimulationProcess(self._settings, self._loop, self._on)

    async def stop(self) -> str:
        """End the simulation; its last sentence."""
        self.closing = True
        await self._simulation.stop()
        return self.ended_with

    # from the simulation

    def _on(self, message: Any) -> None:
        kind = message[0]
        if kind == "rows":
            self._on_rows(*message[1:])
        elif kind == "say":
            self._on_text(*message[1:])
        elif kind == "stage":
            self._on_stage(*message[1:])
        elif kind == "cut":
            self._on_cut(*message[1:])
        elif kind == "file":
            number, path, name, error = message[1:]
            waiting = self._files.pop(number, None)
            if waiting is not None and not waiting.done():
                waiting.set_result((path, name, error))
        elif kind == "ready":
            if not self._ready.done():
                self._ready.set_result(None)
        elif kind == "failed":
            self.failed = message[1]
        elif kind == "ended":
            self.ended_with = message[1]
        elif kind == "gone":
            self._on_gone()

    def _on_gone(self) -> None:
        if not self._ready.done():
            self._ready.set_exception(
                InputError(self.failed or "the simulation could not start; see the messages above")
            )
            return
        if self.closing:
            return
        for waiting in self._files.values():
            if not waiting.done():
                waiting.set_result((None, "", "the simulation ended unexpectedly"))
        self._files.clear()
        self._state.clear()
        self._events, self._now, self._samples, self._tails, self._places = [], None, None, {}, {}
        self._say_all(m.text_of(m.EMPTY))
        self._say_all(
            m.text_of(m.Notice(level="error", text="The simulation ended unexpectedly. Open a scenario again."))
        )
        self._simulation.close()
        self._launch()

    def _on_rows(
        self,
        numbers: tuple[Any, ...],
        console: tuple[float, ...],
        times: bytes,
        rows: bytes,
        poses: bytes,
        pose: bytes,
        count: int,
    ) -> None:
        samples = self._samples
        if samples is None:
            return
        if count:
            samples.add(
                np.frombuffer(times, "<f8"),
                np.frombuffer(rows, "<f4").reshape(count, samples.width),
                np.frombuffer(poses, "<f4").reshape(count, 7 * samples.bodies),
            )
        epoch, t_s, factor, speed, bits, take, estimate = numbers
        self._sequence += 1
        self._now = Now(
            epoch, self._sequence, t_s, factor, speed, bits, take & 0xFFFF, estimate, console, pose, samples.bodies
        )
        self._slow += 1
        values = self._slow % round(FRAME_HZ / SLOW_HZ) == 0
        for client in self.clients.values():
            client.tick()
        if values and any(client.watches for client in self.clients.values()):
            self._send_values(samples)

    def _send_values(self, samples: Samples) -> None:
        if samples.end == samples.first:
            return
        row = samples.part(samples.end - 1, samples.end)[1][0]
        assert self._now is not None
        shown = [None if not np.isfinite(x) else float(f"{x:.5g}") for x in row.tolist()]
        values = [shown[a : a + n] for a, n in self._places.values()]
        text = m.text_of(m.Values(epoch=self._epoch, t_s=self._now.t_s, values=values))
        for client in list(self.clients.values()):
            if client.watches:
                self._say(client, text)

    def _on_stage(self, epoch: int, fresh: bool, places: Places, width: int, bodies: int) -> None:
        most = round(self.buffers.history_s * CHART_HZ)
        if fresh or self._samples is None:
            self._samples = Samples(width, bodies, most)
            self._tails = {}
            self._events = []
            for client in self.clients.values():
                client.begin(0)
        else:
            before = self._samples.end - self._samples.first
            self._samples = self._samples.laid_out(self._places, places, width)
            for client in self.clients.values():
                client.begin(before)
        self._places, self._epoch = places, epoch

    def _on_cut(self, t_s: float, take: int) -> None:
        if self._samples is None:
            return
        tail = self._samples.cut(t_s)
        if take > 0:
            self._tails[take] = (tail, self._places)
            for number in sorted(self._tails)[: -self.buffers.takes]:
                del self._tails[number]
        for client in self.clients.values():
            client.cut(self._samples.end)

    def _on_text(self, number: int | None, kind: str, text: str) -> None:
        if kind == "hello":
            self._hello = json.loads(text)
            return
        if number is not None:
            client = self.clients.get(number)
            if client is not None:
                self._say(client, text)
            return
        if kind == "session" and json.loads(text)["started"] != self._started():
            self._state.clear()
        if kind == "events":
            news = json.loads(text)
            self._events = (news["events"] if news["whole"] else self._events + news["events"])[-self.buffers.events :]
        elif kind in _STATE:
            self._state[kind] = text
        self._say_all(text)
        if kind == "signals":
            for client in self.clients.values():
                client.laid_out(self._places)
                self._say(client, self._subscription(client))

    def _started(self) -> int:
        return int(json.loads(self._state["session"])["started"]) if "session" in self._state else 0

    # clients

    def join(self) -> Client:
        """A new client: it gets the whole state."""
        self._numbers += 1
        client = Client(self._numbers, self.buffers)
        hello = {**self._hello, "client": client.number, "layouts": self._layouts.read()}
        client.say(json.dumps(hello))
        for kind in _STATE:
            if kind in self._state:
                client.say(self._state[kind])
        if "session" not in self._state:
            client.say(m.text_of(m.EMPTY))
        client.say(json.dumps({"type": "events", "whole": True, "events": self._events}))
        self.clients[client.number] = client
        client.begin(0 if self._samples is None else self._samples.end)
        self._say_clients()
        return client

    def leave(self, client: Client) -> None:
        client.closed = True
        client.wake.set()
        self.clients.pop(client.number, None)
        self._say_clients()

    def _say_clients(self) -> None:
        listed = [m.Client(number=client.number, name=client.name) for client in self.clients.values()]
        self._say_all(m.text_of(m.Clients(clients=listed)))

    def _say(self, client: Client, text: str | bytes) -> None:
        if not client.closed and not client.say(text):
            client.closed = True  # it does not read: it may connect again
            if client.task is not None:
                client.task.cancel()  # which waits for it, perhaps for ever

    def _say_all(self, text: str) -> None:
        for client in list(self.clients.values()):
            self._say(client, text)

    def frame_for(self, client: Client) -> bytes | None:
        return client.take_frame(self._now, self._samples)

    def _subscription(self, client: Client) -> str:
        return m.text_of(m.Subscription(epoch=self._epoch, signals=client.carried))

    # from a client

    def receive(self, client: Client, text: str | bytes) -> None:
        """Handle a message of a client. An invalid message gets an answer; nothing is raised."""
        try:
            command = c.command_from(text)
        except InputError as error:
            self._reply(client, _id_in(text), str(error))
            return
        if not client.may_ask():
            self._reply(client, command.id, f"too many commands; send at most {PER_S:g} per second")
            return
        try:
            self._take(client, command)
        except InputError as error:
            self._reply(client, command.id, str(error))

    def _reply(self, client: Client, number: int, error: str = "") -> None:
        if number or error:
            self._say(client, m.text_of(m.Reply(id=number, ok=not error, error=error)))

    def _take(self, client: Client, command: Any) -> None:
        if isinstance(command, c.Introduce):
            client.name = " ".join(command.name.split()) or client.name
            self._say_clients()
        elif isinstance(command, c.Subscribe):
            client.subscribe(command.signals, self._places)
            self._say(client, self._subscription(client))
        elif isinstance(command, c.Watch):
            client.watches = command.on
        elif isinstance(command, c.History):
            self._say(client, self._history(command))
            return
        elif isinstance(command, c.SaveLayout | c.DeleteLayout):
            if isinstance(command, c.SaveLayout):
                self._layouts.save(command.name, command.layout)
            else:
                self._layouts.delete(command.name)
            self._say_all(m.text_of(m.Layouts(layouts=self._layouts.read())))
        else:
            if self._simulation.waiting > _MOST_WAITING:
                raise InputError("the simulation is busy; try again")
            self._simulation.post(("do", client.number, command))
            return
        self._reply(client, command.id)

    def _history(self, command: c.History) -> bytes:
        samples, places = self._samples, self._places
        if command.take is not None:
            if command.take not in self._tails:
                raise InputError(f"take {command.take} is not kept any more")
            samples, places = self._tails[command.take]
        if samples is None:
            raise InputError("nothing is loaded; open a scenario first")
        return history_message(self._epoch, command, samples, places)

    async def file(self, what: str, query: dict[str, str]) -> tuple[str | None, str, str]:
        """A file that the simulation writes: path, name, sentence of an error."""
        if len(self._files) >= 8:
            return None, "", "too many downloads at once; try again"
        self._numbers += 1
        number = self._numbers
        self._files[number] = self._loop.create_future()
        waiting = self._files[number]
        self._simulation.post(("file", number, what, query))
        try:
            return await asyncio.wait_for(waiting, 300.0)
        except TimeoutError:
            self._files.pop(number, None)
            return None, "", "the file could not be written in 300 s"


def _id_in(text: str | bytes) -> int:
    """The id of a message that could not be read as a command, if it has one."""
    if len(text) > c.MOST_TEXT:
        return 0
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return 0
    number = found.get("id") if isinstance(found, dict) else None
    return number if isinstance(number, int) and not isinstance(number, bool) and 0 <= number <= 2**31 else 0
