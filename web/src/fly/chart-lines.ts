// What a chart draws: its lines with colour and width, from the signals it shows. Hue is the axis or the role.
import type { Signal } from "../messages.ts";
import { unitText } from "../state/format.ts";
import { shownAs } from "../state/studio.ts";
import type { ChartSpec } from "../state/ui.ts";

export interface ChartLine {
  signal: string;
  part: number;
  role: Signal["role"];
  label: string; // of the axis: x, roll
  colour: string; // token
  tint?: boolean; // lighter, towards the colour of truth
  width: number;
  alpha: number;
  factor: number;
  wraps: boolean; // 359 deg is next to 0 deg
}

export interface ChartModel {
  key: string;
  spec: ChartSpec;
  title: string;
  unit: string;
  lines: ChartLine[];
  band: { signal: string; part: number; factor: number } | null; // three sigma
  rows: string[]; // labels of the axes, in order
  roles: Signal["role"][];
  instrument: string; // words by which events are found
}

const AXES = ["x", "y", "z", "text-2"];
const ROLE: Record<Signal["role"], { colour: string; width: number; alpha: number }> = {
  truth: { colour: "truth", width: 0.9, alpha: 0.9 },
  reading: { colour: "reading", width: 2, alpha: 0.9 },
  estimate: { colour: "estimate", width: 3, alpha: 0.9 },
  error: { colour: "estimate", width: 1.6, alpha: 1 },
  sigma: { colour: "estimate", width: 1, alpha: 0.8 },
  signal: { colour: "y", width: 1.6, alpha: 1 },
};
const ORDER: Signal["role"][] = ["reading", "signal", "estimate", "error", "sigma", "truth"];

function axisWidth(role: Signal["role"]): { width: number; alpha: number } {
  if (role === "truth") return { width: 0.9, alpha: 0.95 };
  if (role === "estimate") return { width: 3, alpha: 0.75 };
  if (role === "reading") return { width: 2.2, alpha: 0.75 };
  return { width: 1.6, alpha: 1 };
}

/** Whether the axes of these signals may be split into a chart each: angles of the attitude. */
export function splits(signals: readonly Signal[]): boolean {
  return signals.length > 0 && signals.every((s) => s.size === 3 && s.labels[0] !== "x" && ["estimate", "truth", "error", "sigma"].includes(s.role));
}

/** The charts for a list of specifications. split: one chart for each angle. */
export function chartModels(specs: readonly ChartSpec[], known: ReadonlyMap<string, Signal>, split: boolean): ChartModel[] {
  return specs.flatMap((spec) => {
    const signals = spec.signals.flatMap((name) => known.get(name) ?? []);
    signals.sort((a, b) => ORDER.indexOf(a.role) - ORDER.indexOf(b.role));
    const isError = signals.some((s) => s.role === "error");
    if (splits(signals) && (split || isError)) {
      // errors have one band each; where there is no space, the last angle (heading) alone is shown
      const parts = split ? [0, 1, 2] : [2];
      return parts.map((part) => model(spec, signals, part, `${signals[0]!.labels[part] ?? ""}${isError ? " error" : ""}`));
    }
    return [model(spec, signals, null, spec.title)];
  });
}

function model(spec: ChartSpec, signals: Signal[], only: number | null, title: string): ChartModel {
  const drawn = signals.filter((s) => s.role !== "sigma" || !signals.some((other) => other.role === "error"));
  const sigma = signals.find((s) => s.role === "sigma" && signals.some((other) => other.role === "error"));
  const lines: ChartLine[] = [];
  const scalars = drawn.filter((s) => s.size === 1);
  const several = Math.max(0, ...scalars.map((s) => scalars.filter((other) => other.role === s.role).length));
  let single = 0;
  for (const signal of drawn) {
    const { factor } = shownAs(signal.unit);
    for (let part = 0; part < signal.size; part++) {
      if (only !== null && part !== only) continue;
      const alone = only !== null || signal.size === 1;
      const style: { colour: string; width: number; alpha: number; tint?: boolean } = alone ? { ...ROLE[signal.role] } : { colour: AXES[part % 4]!, ...axisWidth(signal.role) };
      if (!alone && signal.role === "truth") style.tint = true;
      if (alone && signal.role === "signal" && several > 1) style.colour = ["y", "x", "z", "field", "gravity"][single++ % 5]!;
      lines.push({ signal: signal.name, part, role: signal.role, label: signal.labels[part] || (several > 1 ? signal.title : ""), factor, wraps: signal.labels[part] === "heading" && signal.role !== "error", ...style });
    }
  }
  const first = signals[0];
  const band = sigma ? { signal: sigma.name, part: sigma.size === 1 ? 0 : (only ?? 0), factor: shownAs(sigma.unit).factor } : null;
  const shown = unitText(shownAs(first?.unit).unit);
  return {
    key: `${spec.id}:${only ?? "all"}`,
    spec,
    title: title ? title[0]!.toUpperCase() + title.slice(1) : spec.title,
    unit: shown,
    lines,
    band,
    rows: [...new Set(lines.map((line) => line.label))],
    roles: [...new Set(drawn.map((s) => s.role))].sort((a, b) => "reading estimate signal error sigma truth".indexOf(a) - "reading estimate signal error sigma truth".indexOf(b)),
    instrument: signals.map((s) => `${s.group} ${s.name} ${s.title}`).join(" ").toLowerCase(),
  };
}
