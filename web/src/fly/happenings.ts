// Events as they appear in charts and on the timeline: faults as spans, edits as marks, states as stretches.
import type * as M from "../messages.ts";
import type { ChartModel } from "./chart-lines.ts";
import type { Mark, Span } from "./strip.ts";

export interface FaultSpan {
  name: string;
  from: number;
  to: number; // infinite while it lasts
  text: string;
  words: string; // sensor and instrument, by which charts are found
  event: M.Event;
}

/** All faults with begin and end. */
export function faults(events: readonly M.Event[]): FaultSpan[] {
  const found: FaultSpan[] = [];
  for (const event of events) {
    const name = String(event.data.name ?? "");
    if (event.kind === "fault") {
      const fault = (typeof event.data.fault === "object" ? event.data.fault : event.data) as Record<string, unknown>;
      const what = String(fault.kind ?? "fault").replaceAll("_", " ");
      // the instrument is more precise than the module it is in
      const words = String(fault.instrument ?? fault.sensor ?? fault.motor ?? "").toLowerCase();
      found.push({ name, from: event.t_s, to: Infinity, text: what, words, event });
    } else if (event.kind === "fault_ends") {
      const open = found.findLast((fault) => fault.name === name && fault.to === Infinity);
      if (open) open.to = event.t_s;
    }
  }
  return found;
}

function concerns(words: string, model: ChartModel): boolean {
  return words.length > 2 && model.instrument.includes(words);
}

/** Faults in a chart: of its sensor with a name, in error charts of all sensors without. */
export function faultSpans(events: readonly M.Event[], _active: M.Faults["faults"], model: ChartModel): Span[] {
  return faults(events).flatMap(({ from, to, text, words }) => {
    if (concerns(words, model)) return [{ from, to, text: `fault: ${text}` }];
    return model.roles.includes("error") ? [{ from, to, text: "" }] : [];
  });
}

/** Edits in a chart: with words where they concern it. */
export function editMarks(events: readonly M.Event[], model: ChartModel): Mark[] {
  return events.flatMap((event) => {
    if (!["sensor", "parameters", "diagram", "scene", "mark"].includes(event.kind)) return [];
    const words = String(event.data.instrument ?? event.data.sensor ?? "").toLowerCase();
    return [{ t: event.t_s, text: event.kind !== "mark" && concerns(words, model) ? shortText(event) : "" }];
  });
}

/** A few words for an event. */
export function shortText(event: M.Event): string {
  const text = event.text.replace(/^sensor "[^"]*": /, "").replace(/^block "([^"]*)": /, "$1: ");
  return text.length > 48 ? `${text.slice(0, 46)}…` : text;
}

export interface Stretch {
  from: number;
  to: number;
  state: "off" | "on" | "calibrate" | "armed";
  text: string;
}

/** The states of the console over time, from its events. */
export function states(events: readonly M.Event[], newest: number, modes: readonly string[]): Stretch[] {
  const now = { power: 0, calibrate: 0, arm: 0, mode: 2 } as Record<string, number>;
  const list: Stretch[] = [];
  const put = (t: number): void => {
    const mode = modes[now.mode!] ?? "";
    const next: Omit<Stretch, "from" | "to"> = !now.power
      ? { state: "off", text: "" }
      : now.calibrate
        ? { state: "calibrate", text: "Calibrate" }
        : now.arm
          ? { state: "armed", text: `Armed, ${mode}` }
          : { state: "on", text: "Ready" };
    const before = list.at(-1);
    if (before && before.text === next.text && before.state === next.state) return;
    if (before) before.to = t;
    list.push({ from: t, to: newest, ...next });
  };
  put(0);
  for (const event of events) {
    if (event.kind === "stopped") {
      now.arm = 0;
      put(event.t_s);
    }
    if (event.kind !== "console") continue;
    const changes = (event.data.changes ?? event.data) as Record<string, unknown>;
    for (const name of ["power", "calibrate", "arm", "mode"]) if (typeof changes[name] === "number" || typeof changes[name] === "boolean") now[name] = Number(changes[name]);
    if (!now.power) now.arm = now.calibrate = 0;
    put(event.t_s);
  }
  const lastOne = list.at(-1);
  if (lastOne) lastOne.to = newest;
  return list.filter((stretch) => stretch.to > stretch.from);
}
