// A diagram as plain values of its file, and changes of it. A change gives a new diagram, so that undo is a list.
import type { BlockState, Kind, PortInfo } from "../messages.ts";

export interface BlockTable {
  name: string;
  kind?: string;
  diagram?: string;
  parameters?: Record<string, unknown>;
  rate_hz?: number;
  at?: [number, number];
  comment?: string;
}
export interface WireTable {
  from: string;
  to: string;
  comment?: string;
}
export interface PortTable {
  name: string;
  unit?: string;
  frame?: string;
  shape?: number[];
  at?: [number, number];
}
export interface Sheet {
  name?: string;
  title?: string;
  block?: BlockTable[];
  wire?: WireTable[];
  input?: PortTable[];
  output?: PortTable[];
}
export interface Diagram extends Sheet {
  version: number;
  base_hz?: number;
  control_hz?: number;
  diagram?: Sheet[];
}

/** Uses of sub-diagrams from the main diagram down: names of the blocks. */
export type Path = readonly string[];

/** The sheet that a path shows; undefined if it does not exist any more. */
export function sheetAt(diagram: Diagram, path: Path): Sheet | undefined {
  let sheet: Sheet | undefined = diagram;
  for (const name of path) {
    const use: BlockTable | undefined = sheet?.block?.find((b) => b.name === name);
    sheet = diagram.diagram?.find((s) => s.name === use?.diagram);
    if (!sheet) return undefined;
  }
  return sheet;
}

/** The diagram with one sheet changed. */
export function withSheet(diagram: Diagram, path: Path, change: (sheet: Sheet) => Sheet): Diagram {
  const shown = sheetAt(diagram, path);
  if (!shown) return diagram;
  if (path.length === 0) return change(diagram) as Diagram;
  return { ...diagram, diagram: (diagram.diagram ?? []).map((s) => (s === shown ? change(s) : s)) };
}

export function freeName(sheet: Sheet, wanted: string): string {
  const taken = new Set([...(sheet.block ?? []), ...(sheet.input ?? []), ...(sheet.output ?? [])].map((b) => b.name));
  if (!taken.has(wanted)) return wanted;
  for (let i = 2; ; i++) if (!taken.has(`${wanted} ${i}`)) return `${wanted} ${i}`;
}

export function addBlock(diagram: Diagram, path: Path, block: BlockTable): Diagram {
  return withSheet(diagram, path, (sheet) => ({ ...sheet, block: [...(sheet.block ?? []), block] }));
}

export function removeBlocks(diagram: Diagram, path: Path, names: readonly string[]): Diagram {
  const gone = (end: string): boolean => names.includes(blockOf(end));
  return withSheet(diagram, path, (sheet) => ({
    ...sheet,
    block: (sheet.block ?? []).filter((b) => !names.includes(b.name)),
    wire: (sheet.wire ?? []).filter((w) => !gone(w.from) && !gone(w.to)),
  }));
}

/** The block of an end of a wire; "" for a port of the sheet itself. */
export function blockOf(end: string): string {
  const dot = end.lastIndexOf(".");
  return dot < 0 ? "" : end.slice(0, dot);
}

export function portOf(end: string): string {
  return end.slice(end.lastIndexOf(".") + 1);
}

/** Connect two ports. An input has one wire: the one before is replaced. */
export function connect(diagram: Diagram, path: Path, from: string, to: string): Diagram {
  return withSheet(diagram, path, (sheet) => ({ ...sheet, wire: [...(sheet.wire ?? []).filter((w) => w.to !== to), { from, to }] }));
}

export function disconnect(diagram: Diagram, path: Path, ends: readonly string[]): Diagram {
  return withSheet(diagram, path, (sheet) => ({ ...sheet, wire: (sheet.wire ?? []).filter((w) => !ends.includes(w.to)) }));
}

export function changeBlock(diagram: Diagram, path: Path, name: string, change: Partial<BlockTable>): Diagram {
  return withSheet(diagram, path, (sheet) => ({ ...sheet, block: (sheet.block ?? []).map((b) => (b.name === name ? { ...b, ...change } : b)) }));
}

export function rename(diagram: Diagram, path: Path, from: string, to: string): Diagram {
  const end = (text: string): string => (blockOf(text) === from ? `${to}.${portOf(text)}` : text);
  return withSheet(diagram, path, (sheet) => ({
    ...sheet,
    block: (sheet.block ?? []).map((b) => (b.name === from ? { ...b, name: to } : b)),
    wire: (sheet.wire ?? []).map((w) => ({ ...w, from: end(w.from), to: end(w.to) })),
  }));
}

/** Another kind in place of a block: wires to ports that it has too are kept. */
export function replaceKind(diagram: Diagram, path: Path, name: string, kind: Kind): Diagram {
  const inputs = new Set(kind.inputs?.map((p) => p.name));
  const outputs = new Set(kind.outputs?.map((p) => p.name));
  return withSheet(diagram, path, (sheet) => ({
    ...sheet,
    block: (sheet.block ?? []).map((b) => {
      if (b.name !== name) return b;
      const { parameters: _, diagram: __, ...rest } = b;
      return { ...rest, kind: kind.kind };
    }),
    wire: (sheet.wire ?? []).filter((w) => (blockOf(w.to) !== name || inputs.has(portOf(w.to))) && (blockOf(w.from) !== name || outputs.has(portOf(w.from)))),
  }));
}

export function moveBlocks(diagram: Diagram, path: Path, places: ReadonlyMap<string, [number, number]>): Diagram {
  const moved = <T extends { name: string; at?: [number, number] }>(prefix: string, list: T[] | undefined): T[] | undefined =>
    list?.map((item) => (places.has(prefix + item.name) ? { ...item, at: places.get(prefix + item.name)! } : item));
  return withSheet(diagram, path, (sheet) => {
    const changed: Sheet = { ...sheet, block: moved("", sheet.block) };
    if (sheet.input) changed.input = moved("> ", sheet.input);
    if (sheet.output) changed.output = moved("< ", sheet.output);
    return changed;
  });
}

export interface Ports {
  inputs: PortInfo[];
  outputs: PortInfo[];
}

const plainPort = (port: PortTable): PortInfo => ({ name: port.name, unit: port.unit ?? null, frame: port.frame ?? null, shape: port.shape ?? null, default: null });

/** The ports of a block: as they run, else as its kind has them, else as the wires name them. */
export function portsOf(block: BlockTable, path: Path, diagram: Diagram, running: ReadonlyMap<string, BlockState>, kinds: ReadonlyMap<string, Kind>): Ports {
  if (block.diagram) {
    const sub = diagram.diagram?.find((s) => s.name === block.diagram);
    return { inputs: (sub?.input ?? []).map(plainPort), outputs: (sub?.output ?? []).map(plainPort) };
  }
  const state = running.get([...path, block.name].join("/"));
  const kind = kinds.get(block.kind ?? "");
  const known = state && state.kind === block.kind ? state : kind;
  const ports = { inputs: [...(known?.inputs ?? [])], outputs: [...(known?.outputs ?? [])] };
  for (const wire of sheetAt(diagram, path)?.wire ?? []) {
    if (blockOf(wire.to) === block.name && !ports.inputs.some((p) => p.name === portOf(wire.to))) ports.inputs.push(plainPort({ name: portOf(wire.to) }));
    if (blockOf(wire.from) === block.name && !ports.outputs.some((p) => p.name === portOf(wire.from))) ports.outputs.push(plainPort({ name: portOf(wire.from) }));
  }
  return ports;
}

export type PortShape = "number" | "vector" | "flag" | "attitude";
export function shapeOf(port: PortInfo): PortShape {
  if (port.unit === "flag") return "flag";
  if (port.unit === "quaternion") return "attitude";
  return port.shape && port.shape.length > 0 ? "vector" : "number";
}

/** Places in columns along the flow of the signals. */
export function arranged(sheet: Sheet, heightOf: (name: string) => number): Map<string, [number, number]> {
  const names = [...(sheet.input ?? []).map((p) => `> ${p.name}`), ...(sheet.block ?? []).map((b) => b.name), ...(sheet.output ?? []).map((p) => `< ${p.name}`)];
  const inputs = new Set((sheet.input ?? []).map((p) => p.name));
  const from = (end: string): string => blockOf(end) || (inputs.has(end) ? `> ${end}` : end);
  const to = (end: string): string => blockOf(end) || `< ${end}`;
  const column = new Map(names.map((n) => [n, 0]));
  for (let round = 0; round < names.length; round++) {
    let moved = false;
    for (const wire of sheet.wire ?? []) {
      const [a, b] = [from(wire.from), to(wire.to)];
      const next = (column.get(a) ?? 0) + 1;
      if (a !== b && column.has(b) && next > column.get(b)! && next < names.length && next <= 12) {
        column.set(b, next);
        moved = true;
      }
    }
    if (!moved) break;
  }
  const depth = new Map<number, number>();
  const places = new Map<string, [number, number]>();
  for (const name of names) {
    const c = column.get(name)!;
    const y = depth.get(c) ?? 0;
    places.set(name, [c * 250, y]);
    depth.set(c, y + heightOf(name) + 36);
  }
  return places;
}
