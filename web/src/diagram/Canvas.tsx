// The canvas of the diagram: React Flow with our blocks and wires.
import { applyNodeChanges, Background, BackgroundVariant, ReactFlow, ReactFlowProvider, useReactFlow, type Connection as FlowConnection, type NodeChange } from "@xyflow/react";
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import type * as M from "../messages.ts";
import { connection, world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { Button } from "../ui/controls.tsx";
import { blockHeight, blockWidth, BlockNode, HEAD, PORT_STEP, PortIcon, type BlockNodeType } from "./BlockNode.tsx";
import { draft, edit, redo, undo } from "./draft.ts";
import { addBlock, blockOf, connect, disconnect, freeName, moveBlocks, portOf, portsOf, removeBlocks, shapeOf, sheetAt, type Diagram, type PortTable, type Sheet } from "./model.ts";
import { KIND_DRAG } from "./Palette.tsx";
import { routes, type WireEnds } from "./routing.ts";
import { showValues } from "./values.ts";
import { WireEdge, type WireEdgeType } from "./WireEdge.tsx";

const nodeTypes = { block: BlockNode };
const edgeTypes = { wire: WireEdge };

/** Pixels of the canvas for one unit of a file. Files leave space for long names; the canvas draws blocks closer. */
interface Scale {
  x: number;
  y: number;
}
const CLOSEST: Scale = { x: 0.84, y: 0.94 };
const WIDEST = 1.4;
const BETWEEN = 64; // px between connected blocks, for the value and the corners of wires
const onCanvas = (at: [number, number] | undefined, scale: Scale): { x: number; y: number } => ({ x: (at?.[0] ?? 0) * scale.x, y: (at?.[1] ?? 0) * scale.y });
const inFile = (p: { x: number; y: number }, scale: Scale): [number, number] => [Math.round(p.x / scale.x), Math.round(p.y / scale.y)];

/** As close as the words of the blocks allow. */
function scaleOf({ nodes, edges }: Shown): Scale {
  const byId = new Map(nodes.map((n) => [n.id, n]));
  const wanted = edges.map(({ source, target }) => {
    const [a, b] = [byId.get(source), byId.get(target)];
    const apart = a && b ? (b.position.x - a.position.x) / CLOSEST.x : 0;
    return a && apart > 60 ? (blockWidth(a.data) + BETWEEN) / apart : 0;
  });
  return { x: Math.min(WIDEST, Math.max(CLOSEST.x, ...wanted)), y: CLOSEST.y };
}

interface Shown {
  nodes: BlockNodeType[];
  edges: WireEdgeType[];
}

const title = (name: string): string => name[0]!.toUpperCase() + name.slice(1);

/** Blocks and wires of a sheet for React Flow. */
function shownSheet(diagram: Diagram, sheet: Sheet, path: readonly string[], state: M.DiagramState | null, kinds: ReadonlyMap<string, M.Kind>, problems: readonly M.ProblemInfo[], selected: string | null, chosenEdge: string | null, scale: Scale): Shown {
  const running = new Map((state?.blocks ?? []).map((b) => [b.path, b]));
  const here = path.join("/");
  const signals = new Map((state?.edges ?? []).filter((e) => e.sheet === here).map((e) => [e.source, e.signal]));
  const bad = problems.filter((p) => p.block && (p.block === p.block.split("/").pop() ? path.length === 0 : p.block.startsWith(here)));
  const nodes: BlockNodeType[] = (sheet.block ?? []).map((block) => {
    const full = [...path, block.name].join("/");
    const kind = kinds.get(block.kind ?? "");
    const wrong = bad.filter((p) => p.block === full || p.block.startsWith(`${full}/`));
    const ports = portsOf(block, path, diagram, running, kinds);
    return {
      id: block.name,
      type: "block",
      position: onCanvas(block.at, scale),
      selected: block.name === selected,
      ariaLabel: `Block ${block.name}, ${block.diagram ? "sub-diagram" : (kind?.category ?? block.kind ?? "")}`,
      data: {
        title: kind?.category === "simulation only" ? block.name.toUpperCase() : title(block.name),
        category: block.diagram ? "sub" : (kind?.category ?? "unknown"),
        ports,
        sub: block.diagram !== undefined,
        bad: wrong.length > 0,
        badPorts: ports.inputs.filter((p) => wrong.some((w) => w.message.includes(`"${p.name}"`))).map((p) => p.name),
        truth: kind?.category === "simulation only",
        port: null,
        note: kind?.category === "simulation only" ? "simulation only" : "",
      },
    };
  });
  const plain = (port: PortTable): M.PortInfo => ({ name: port.name, unit: port.unit ?? null, frame: port.frame ?? null, shape: port.shape ?? null, default: null });
  const sheetPort = (port: PortTable, side: "input" | "output"): BlockNodeType => ({
    id: `${side === "input" ? ">" : "<"} ${port.name}`,
    type: "block",
    deletable: false,
    position: onCanvas(port.at, scale),
    ariaLabel: `${side} ${port.name} of this sub-diagram`,
    data: { title: port.name, category: "sheet", ports: side === "input" ? { inputs: [], outputs: [plain(port)] } : { inputs: [plain(port)], outputs: [] }, sub: false, bad: false, badPorts: [], truth: false, port: side, note: "" },
  });
  nodes.push(...(sheet.input ?? []).map((p) => sheetPort(p, "input")), ...(sheet.output ?? []).map((p) => sheetPort(p, "output")));
  const byId = new Map(nodes.map((n) => [n.id, n]));
  const seen = new Set<string>();
  const ways = wireWays(sheet, byId);
  const edges: WireEdgeType[] = (sheet.wire ?? []).map((wire) => {
    const source = blockOf(wire.from) || `> ${wire.from}`;
    const target = blockOf(wire.to) || `< ${wire.to}`;
    const out = byId.get(source)?.data.ports.outputs.find((p) => p.name === portOf(wire.from));
    const wrong = byId.get(target)?.data.badPorts.includes(portOf(wire.to)) ?? false;
    const first = !seen.has(wire.from);
    seen.add(wire.from);
    return {
      id: wire.to,
      type: "wire",
      source,
      target,
      sourceHandle: portOf(wire.from),
      targetHandle: portOf(wire.to),
      selected: wire.to === chosenEdge,
      ariaLabel: `Wire from ${wire.from} to ${wire.to}`,
      data: {
        shape: out ? shapeOf(out) : "number", signal: signals.get(wire.from) ?? null, first, bad: wrong,
        truth: byId.get(source)?.data.truth ?? false, lit: selected !== null && (source === selected || target === selected), way: ways.get(wire.to) ?? [[0, 0], [0, 0]],
      },
    };
  });
  return { nodes, edges };
}

/** The ways of all wires of a sheet past its blocks. */
function wireWays(sheet: Sheet, byId: ReadonlyMap<string, BlockNodeType>): ReturnType<typeof routes> {
  const boxes = [...byId.values()].map((n) => ({ id: n.id, x: n.position.x, y: n.position.y, w: blockWidth(n.data), h: blockHeight(n.data.ports) }));
  const wires = (sheet.wire ?? []).flatMap((wire): WireEnds[] => {
    const [source, target] = [blockOf(wire.from) || `> ${wire.from}`, blockOf(wire.to) || `< ${wire.to}`];
    const [a, b] = [byId.get(source), byId.get(target)];
    if (!a || !b) return [];
    const out = a.data.ports.outputs.findIndex((p) => p.name === portOf(wire.from));
    const into = b.data.ports.inputs.findIndex((p) => p.name === portOf(wire.to));
    return [{
      id: wire.to, source, target, key: wire.from,
      from: [a.position.x + blockWidth(a.data), a.position.y + HEAD + out * PORT_STEP],
      to: [b.position.x, b.position.y + HEAD + into * PORT_STEP],
    }];
  });
  return routes(wires, boxes);
}

export function Canvas({ diagram }: { diagram: Diagram }): ReactNode {
  return (
    <ReactFlowProvider>
      <Inside diagram={diagram} />
    </ReactFlowProvider>
  );
}

function Inside({ diagram }: { diagram: Diagram }): ReactNode {
  const { path, selected, edge, problems } = useStore(draft, (d) => d);
  const state = useStore(world, (w) => w.diagram);
  const hello = useStore(world, (w) => w.hello);
  const kinds = useMemo(() => new Map((hello?.kinds ?? []).map((k) => [k.kind, k])), [hello]);
  const sheet = sheetAt(diagram, path);
  // found once for each sheet: moving a block must not move the others
  const scales = useRef(new Map<string, Scale>());
  const key = path.join("/");
  if (sheet && !scales.current.has(key)) scales.current.set(key, scaleOf(shownSheet(diagram, sheet, path, state, kinds, [], null, null, CLOSEST)));
  const scale = scales.current.get(key) ?? CLOSEST;
  const shown = useMemo(
    () => (sheet ? shownSheet(diagram, sheet, path, state, kinds, problems, selected, edge, scale) : { nodes: [], edges: [] }),
    [diagram, sheet, path, state, kinds, problems, selected, edge, scale],
  );
  const [nodes, setNodes] = useState(shown.nodes);
  // what React Flow has measured is kept: a block without its size is hidden for a moment and misses the next click
  useEffect(
    () => setNodes((before) => {
      const known = new Map(before.map((n) => [n.id, n.measured]));
      return shown.nodes.map((n) => ({ ...n, measured: known.get(n.id) ?? n.measured }));
    }),
    [shown.nodes],
  );
  const flow = useReactFlow();
  useEffect(() => {
    const timer = setTimeout(() => void flow.fitView({ padding: 0.06, maxZoom: 1.15 }), 60);
    return () => clearTimeout(timer);
  }, [path, flow]);
  useEffect(() => {
    connection.send({ type: "watch", on: true });
    const stop = showValues();
    return () => {
      stop();
      connection.send({ type: "watch", on: false });
    };
  }, []);
  const changed = (changes: NodeChange<BlockNodeType>[]): void => {
    setNodes((list) => applyNodeChanges(changes, list));
    for (const change of changes) if (change.type === "select" && change.selected) draft.set({ selected: change.id, edge: null });
    // arrow keys move a block without dragging
    const keyed = changes.filter((c) => c.type === "position" && c.dragging === false && c.position);
    if (keyed.length) {
      const places = new Map(keyed.flatMap((c) => (c.type === "position" && c.position ? [[c.id, inFile(c.position, scale)] as const] : [])));
      const moved = [...places].some(([id, [x, y]]) => shown.nodes.some((n) => n.id === id && inFile(n.position, scale).join() !== `${x},${y}`));
      if (moved) edit((d) => moveBlocks(d, path, places));
    }
  };
  const drop = (event: React.DragEvent): void => {
    const kind = event.dataTransfer.getData(KIND_DRAG);
    if (!kind || !sheet) return;
    const at = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY });
    const name = freeName(sheet, kind.replaceAll("_", " "));
    edit((d) => addBlock(d, path, { name, kind, at: inFile(at, scale) }));
    draft.set({ selected: name });
  };
  useEffect(() => {
    const keys = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || (event.target as HTMLElement).matches("input, textarea")) return;
      event.preventDefault();
      (event.shiftKey ? redo : undo)();
    };
    window.addEventListener("keydown", keys);
    return () => window.removeEventListener("keydown", keys);
  }, []);
  return (
    <div className="canvas" onDragOver={(e) => e.dataTransfer.types.includes(KIND_DRAG) && e.preventDefault()} onDrop={drop}>
      <ReactFlow
        nodes={nodes}
        edges={shown.edges}
        nodeTypes={nodeTypes}
        edgeTypes={edgeTypes}
        onNodesChange={changed}
        onConnect={(c: FlowConnection) => edit((d) => connect(d, path, endOf(c.source, c.sourceHandle), endOf(c.target, c.targetHandle)))}
        onDelete={(gone) => edit((d) => removeBlocks(disconnect(d, path, gone.edges.map((e) => e.id)), path, gone.nodes.map((n) => n.id)))}
        onEdgeClick={(_, e) => draft.set({ edge: e.id, selected: null })}
        onNodeDoubleClick={(_, n) => n.data.sub && openSub(n.id)}
        onPaneClick={() => draft.set({ selected: null, edge: null })}
        deleteKeyCode={["Delete", "Backspace"]}
        fitView
        fitViewOptions={{ padding: 0.06, maxZoom: 1.15 }}
        minZoom={0.2}
        maxZoom={2.5}
        proOptions={{ hideAttribution: true }}
        nodesFocusable
        edgesFocusable
      >
        <Background variant={BackgroundVariant.Dots} gap={20} size={1} />
      </ReactFlow>
      <div className="legend-box" aria-hidden="true">
        <span><PortIcon shape="number" />number</span>
        <span><PortIcon shape="vector" />vector, norm shown</span>
        <span><PortIcon shape="flag" />on / off</span>
        <span><PortIcon shape="attitude" />attitude</span>
        <span className="dim3 xl-only">Click an edge to chart it</span>
      </div>
      <span className="seg small zoom" role="group" aria-label="Zoom">
        <button type="button" aria-label="Zoom out" onClick={() => void flow.zoomOut()}>−</button>
        <button type="button" onClick={() => void flow.fitView({ padding: 0.06, maxZoom: 1.15 })}>Fit</button>
        <button type="button" aria-label="Zoom in" onClick={() => void flow.zoomIn()}>+</button>
      </span>
      {!sheet && <div className="empty">This sub-diagram does not exist any more. <Button onClick={() => draft.set({ path: [] })}>Main diagram</Button></div>}
    </div>
  );
}

function endOf(node: string, port: string | null): string {
  return node.startsWith("> ") || node.startsWith("< ") ? node.slice(2) : `${node}.${port ?? ""}`;
}

export function openSub(name: string): void {
  draft.set((d) => ({ path: [...d.path, name], selected: null, edge: null }));
}
