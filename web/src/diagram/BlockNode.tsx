// A block on the canvas: header with its kind, ports at its sides.
import { Handle, Position, useStore as useFlow, type NodeProps, type Node } from "@xyflow/react";
import { memo, type ReactNode } from "react";
import type { PortInfo } from "../messages.ts";
import { token } from "../scene/colours.ts";
import { shapeOf, type PortShape, type Ports } from "./model.ts";

export interface BlockData extends Record<string, unknown> {
  title: string;
  category: string;
  ports: Ports;
  sub: boolean;
  bad: boolean;
  badPorts: string[];
  truth: boolean;
  port: "input" | "output" | null; // a port of the sheet itself
  note: string;
}
export type BlockNodeType = Node<BlockData, "block">;

const TOP = 24;
export const PORT_STEP = 20;
export const HEAD = TOP + 11;
/** Zoom from which the names of ports and the values on wires are shown: 11 px of text are 6 px there. */
export const NAMES_FROM = 0.55;

export function blockHeight(ports: Ports): number {
  return TOP + Math.max(1, ports.inputs.length, ports.outputs.length) * PORT_STEP + 6;
}

let ruler: CanvasRenderingContext2D | null | undefined;

/** Width of a text in the font of the page, px. */
function textWidth(text: string, font: string): number {
  if (ruler === undefined) ruler = document.createElement("canvas").getContext("2d");
  if (!ruler) return 7 * text.length;
  ruler.font = `${font} ${token("font-ui")}`;
  return ruler.measureText(text).width;
}

/** Width of a block, from its words: wires are routed before it is drawn. */
export function blockWidth(data: { title: string; ports: Ports; port: string | null }): number {
  const longest = (ports: readonly PortInfo[]): number => Math.max(0, ...ports.map((p) => (p.name === "in" || p.name === "out" ? 0 : textWidth(p.name.replaceAll("_", " "), "11px"))));
  const [ins, outs] = data.port ? [0, 0] : [longest(data.ports.inputs), longest(data.ports.outputs)];
  return Math.ceil(Math.max(data.port ? 76 : 100, 34 + textWidth(data.title, "600 12px"), 22 + ins + outs + (ins && outs ? 14 : 0)));
}

const SHAPES: Record<PortShape, ReactNode> = {
  number: <circle cx="6" cy="6" r="4" />,
  vector: <rect x="2" y="2" width="8" height="8" />,
  flag: <path d="M6 1l5 5-5 5-5-5z" />,
  attitude: <path d="M1 6l2.5-4.5h5L11 6l-2.5 4.5h-5z" />,
};

export function PortIcon({ shape }: { shape: PortShape }): ReactNode {
  return <svg className="port" width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">{SHAPES[shape]}</svg>;
}

function Port({ port, side, index, bad, small }: { port: PortInfo; side: "in" | "out"; index: number; bad: boolean; small: boolean }): ReactNode {
  const input = side === "in";
  const top = HEAD + index * PORT_STEP;
  const named = !small && !(port.name === "in" || port.name === "out");
  return (
    <>
      <Handle
        type={input ? "target" : "source"}
        position={input ? Position.Left : Position.Right}
        id={port.name}
        className={bad ? "bad" : ""}
        style={{ top }}
        title={`${port.name}${port.unit ? `, ${port.unit}` : ""}${port.frame ? `, frame ${port.frame}` : ""}`}
      >
        <PortIcon shape={shapeOf(port)} />
      </Handle>
      {named && <p className={input ? "pin" : "pout"} style={{ top: top - 9 }}>{port.name.replaceAll("_", " ")}</p>}
    </>
  );
}

export const BlockNode = memo(function BlockNode({ data, selected }: NodeProps<BlockNodeType>): ReactNode {
  const zoom = useFlow((s) => s.transform[2]);
  const small = zoom < NAMES_FROM;
  const classes = ["nd", `cat-${data.category.replaceAll(" ", "-")}`, data.bad ? "bad" : "", data.sub ? "subd" : "", data.truth ? "truth" : "", data.port ? "sheet-port" : "", selected ? "sel0" : ""];
  return (
    <div className={classes.join(" ")} style={{ width: blockWidth(data), height: blockHeight(data.ports) }}>
      <header><i />{data.title}</header>
      {data.ports.inputs.map((port, i) => <Port key={port.name} port={port} side="in" index={i} bad={data.badPorts.includes(port.name)} small={small} />)}
      {data.ports.outputs.map((port, i) => <Port key={port.name} port={port} side="out" index={i} bad={false} small={small} />)}
      {data.note && <p className="mid">{data.note}</p>}
    </div>
  );
});
