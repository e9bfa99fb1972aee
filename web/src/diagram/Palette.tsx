// Kinds of blocks by category: drag one onto the canvas, or press it.
import { useMemo, useState, type ReactNode } from "react";
import type { Kind } from "../messages.ts";
import { world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { draft, edit, shownDiagram } from "./draft.ts";
import { addBlock, freeName, sheetAt } from "./model.ts";

export const KIND_DRAG = "application/x-strapdown-kind";
const ORDER = ["source", "sensor", "filter", "estimation", "control", "output", "math", "vector", "logic", "simulation only"];
const TITLES: Record<string, string> = { source: "Sources", sensor: "Sensors", filter: "Filters", estimation: "Estimation", control: "Control", output: "Output", math: "Math", vector: "Vectors", logic: "Logic", "simulation only": "Simulation only" };

export function kindTitle(kind: string): string {
  if (kind === "truth") return "TRUTH";
  const text = kind.replace(/^orientation_/, "").replaceAll("_", " ");
  return ["mekf", "vqf", "pid"].includes(text) ? text.toUpperCase() : text[0]!.toUpperCase() + text.slice(1);
}

export function Palette(): ReactNode {
  const kinds = useStore(world, (w) => w.hello?.kinds);
  const [find, setFind] = useState("");
  const groups = useMemo(() => {
    const wanted = find.trim().toLowerCase();
    const found = new Map<string, Kind[]>();
    for (const kind of kinds ?? []) {
      if (wanted && !`${kind.kind} ${kind.description} ${kind.category}`.toLowerCase().includes(wanted)) continue;
      found.set(kind.category, [...(found.get(kind.category) ?? []), kind]);
    }
    const place = (c: string): number => (ORDER.includes(c) ? ORDER.indexOf(c) : ORDER.length - 1.5);
    return [...found].sort(([a], [b]) => place(a) - place(b));
  }, [kinds, find]);
  const add = (kind: string): void => {
    const shown = shownDiagram();
    const sheet = shown && sheetAt(shown, draft.value.path);
    if (!sheet) return;
    const name = freeName(sheet, kind.replaceAll("_", " "));
    const low = Math.max(0, ...(sheet.block ?? []).map((b) => b.at?.[1] ?? 0));
    edit((d) => addBlock(d, draft.value.path, { name, kind, at: [20, low + 150] }));
    draft.set({ selected: name, edge: null });
  };
  return (
    <aside className="panel pal" aria-label="Palette">
      <div className="phead"><input className="in text" placeholder="Find a block" aria-label="Find a block" value={find} onChange={(e) => setFind(e.target.value)} /></div>
      <div className="pbody scroll">
        {groups.map(([category, list]) => (
          <div key={category}>
            <h2>{TITLES[category] ?? category}</h2>
            <ul>
              {list.map((kind) => (
                <li key={kind.kind}>
                  <button type="button" draggable className={`cat-${category.replaceAll(" ", "-")}`} title={kind.description} onDragStart={(e) => e.dataTransfer.setData(KIND_DRAG, kind.kind)} onClick={() => add(kind.kind)}>
                    <i />{kindTitle(kind.kind)}
                  </button>
                </li>
              ))}
            </ul>
          </div>
        ))}
        {groups.length === 0 && <p className="note">No block has “{find}” in its name or description.</p>}
      </div>
    </aside>
  );
}
