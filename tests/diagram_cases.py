"""What tests of diagrams share: diagrams from short texts, and a slow interpreter that is no copy of the schedule."""

from strapdown.environment.diagram import compile_diagram
from strapdown.environment.diagram.file import diagram_from
from strapdown.environment.diagram.kinds import Kind, builtin


def blocks_of(blocks):
    """{"name": "kind"} or {"name": ("kind", {parameters}, {further keys})} as block tables."""
    tables = []
    for name, given in blocks.items():
        kind, parameters, more = (given, {}, {}) if isinstance(given, str) else (*given, *({},) * (3 - len(given)))
        table = {"name": name, "parameters": parameters, **more}
        table["diagram" if kind.startswith("diagram ") else "kind"] = kind.removeprefix("diagram ")
        tables.append(table)
    return tables


def wires_of(*wires):
    """ "a.out -> b.in" as wire tables."""
    pairs = (wire.split(" -> ") for wire in wires)
    return [{"from": source, "to": target} for source, target in pairs]


def sheet(blocks, *wires, **keys):
    return {"block": blocks_of(blocks), "wire": wires_of(*wires), **keys}


def diagram(blocks, *wires, **keys):
    return diagram_from({"version": 1, **sheet(blocks, *wires, **keys)})


def runner(blocks, *wires, kinds=None, **keys):
    return compile_diagram(diagram(blocks, *wires, **keys), kinds)


def kinds_with(*classes):
    return {**builtin(), **{c.block_kind: Kind(c.block_kind, c.block_category, c.__doc__, c) for c in classes}}


def values(run, name, ticks):
    """The signal after each of so many ticks."""
    found = []
    for _ in range(ticks):
        run.tick()
        found.append(run.value(name))
    return found


class Interpreter:
    """Computes a diagram on demand: an output asks for what it needs. Nothing is sorted or generated."""

    def __init__(self, given, kinds=None):
        self.given, self.kinds, self.tick_count = given, kinds or builtin(), 0
        self.subs = {sub.name: sub for sub in given.diagram}
        self.blocks, self.ways, self.every = {}, {}, {}
        self._expand(given, "", {}, given.control_hz)
        self.states = {path: block.start() for path, block in self.blocks.items()}
        self.held = {}

    def _expand(self, sheet, prefix, outside, rate_hz):
        """outside: where the sub-diagram's own inputs come from, as (path, port)."""
        for table in sheet.block:
            path = prefix + table.name
            if table.diagram:
                sub = self.subs[table.diagram]
                inner = {
                    port.name: self._alias(sheet, prefix, outside, f"{table.name}.{port.name}") for port in sub.input
                }
                self._expand(sub, f"{path}/", inner, table.rate_hz or rate_hz)
            else:
                self.blocks[path] = self.kinds[table.kind].make(table.parameters)
                hz = table.rate_hz or self.blocks[path].rate_hz or rate_hz
                self.every[path] = round(self.given.base_hz / hz)
                for port in self.blocks[path].inputs:
                    found = self._alias(sheet, prefix, outside, f"{table.name}.{port}")
                    if found is not None:
                        self.ways[path, port] = found

    def _alias(self, sheet, prefix, outside, target):
        source = next((wire.source for wire in sheet.wire if wire.target == target), None)
        if source is None:
            return None
        name, dot, port = source.rpartition(".")
        if not dot:
            return outside[source]
        table = next(t for t in sheet.block if t.name == name)
        if not table.diagram:
            return prefix + name, port
        # an output of a sub-diagram: look inside, with that use's own inputs
        sub = self.subs[table.diagram]
        inner = {p.name: self._alias(sheet, prefix, outside, f"{name}.{p.name}") for p in sub.input}
        return self._alias(sub, f"{prefix}{name}/", inner, port)

    def tick(self):
        now = {}
        stepped = {}

        def result(path):
            if path in now:
                return now[path]
            if self.tick_count % self.every[path]:
                now[path] = self.held[path]
                return now[path]
            block = self.blocks[path]
            if hasattr(block, "output"):
                now[path] = dict(zip(block.outputs, block.output(self.states[path]), strict=True))
                return now[path]
            state, outputs = block.step(self.states[path], *inputs(path), dt=self.every[path] / self.given.base_hz)
            stepped[path] = state
            now[path] = dict(zip(block.outputs, outputs, strict=True))
            return now[path]

        def inputs(path):
            block = self.blocks[path]
            ways = [self.ways.get((path, port)) for port in block.inputs]
            ports = list(block.inputs.values())
            return [
                port.default if way is None else result(way[0])[way[1]] for way, port in zip(ways, ports, strict=True)
            ]

        for path in self.blocks:
            result(path)
        for path, block in self.blocks.items():
            if hasattr(block, "output") and self.tick_count % self.every[path] == 0:
                dt = self.every[path] / self.given.base_hz
                stepped[path] = block.step(self.states[path], *inputs(path), dt=dt)[0]
        self.states |= stepped
        self.held = now
        self.tick_count += 1
