// A wire with the present value of its signal near its source.
import { BaseEdge, EdgeLabelRenderer, useStore as useFlow, type Edge, type EdgeProps } from "@xyflow/react";
import { memo, type ReactNode } from "react";
import { NAMES_FROM } from "./BlockNode.tsx";
import { pathOf, type Way } from "./routing.ts";
import { pill } from "./values.ts";
import type { PortShape } from "./model.ts";

export interface WireData extends Record<string, unknown> {
  shape: PortShape;
  signal: string | null;
  first: boolean; // the first wire of its source: it carries the value
  bad: boolean;
  truth: boolean;
  lit: boolean; // of the selected block
  way: Way;
}
export type WireEdgeType = Edge<WireData, "wire">;

export const WireEdge = memo(function WireEdge(props: EdgeProps<WireEdgeType>): ReactNode {
  const { data, sourceX, sourceY, targetX, targetY, selected, id } = props;
  const zoom = useFlow((s) => s.transform[2]);
  if (!data) return null;
  const path = pathOf(data.way, [sourceX, sourceY], [targetX, targetY]);
  const classes = ["wire", `w-${data.shape}`, data.bad ? "bad" : "", data.truth ? "truth" : "", data.lit || selected ? "lit" : ""].join(" ");
  return (
    <>
      <path d={path} className="wire-halo" />
      <BaseEdge id={id} path={path} className={classes} interactionWidth={14} />
      {data.first && data.signal && zoom >= NAMES_FROM && (
        <EdgeLabelRenderer>
          <span
            className={`pill ${data.bad ? "bad" : ""}`}
            style={{ transform: `translate(${sourceX + 12}px, ${sourceY - 8}px)` }}
            ref={(element) => pill(data.signal!, id, element)}
          />
        </EdgeLabelRenderer>
      )}
    </>
  );
});
