// What this client looks at: view, theme, charts, cursor, camera, borders. Kept in the browser; layouts are kept by name.
import type * as M from "../messages.ts";
import type { Quality } from "../scene/quality.ts";
import { live, onSession, world, connection, act } from "./studio.ts";
import { Store } from "./store.ts";
import { toast } from "./toasts.ts";

export type View = "chooser" | "fly" | "diagram" | "calibrate" | "report" | "campaign";
export type Camera = "chase" | "orbit" | "body";
export type Input = "keys" | "screen" | "gamepad";
export type PanelTab = "sensors" | "signals" | "vehicle";

export interface ChartSpec {
  id: number;
  title: string;
  signals: string[];
}

export interface Ui {
  view: View;
  theme: "dark" | "light";
  layout: string;
  camera: Camera;
  input: Input;
  tab: PanelTab;
  drawer: boolean;
  split: boolean | null; // one chart per angle; null: where there is space
  charts: ChartSpec[];
  span: number; // seconds that the charts show
  cursor: number | null; // time that is looked at; null: the newest
  end: number | null; // right edge of the charts; null: the newest
  fit: number; // counts requests to fit the vertical ranges
  borders: [number, number]; // shares of the scene and of the charts
  open: Record<string, boolean>; // groups that are unfolded
  tour: number; // step of the tour, 0: not shown
  help: boolean;
}

const query = new URLSearchParams(location.search);
const KEY = "strapdown-studio";
const wished = query.get("q");
/** ?q=low or ?q=high: of the scene. */
export const quality: Quality = wished === "low" || wished === "high" ? wished : "auto";
export const BORDERS: [number, number] = [1, 1.14];

function stored(): Partial<Ui> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Ui>;
  } catch {
    return {};
  }
}

const before = stored();
const given = query.get("theme");
export const ui = new Store<Ui>({
  view: viewFromAddress(),
  theme: given === "light" || given === "dark" ? given : (before.theme ?? preferredTheme()),
  layout: before.layout ?? "Standard",
  camera: before.camera ?? "chase",
  input: "keys",
  tab: "sensors",
  drawer: false,
  split: before.split ?? null,
  charts: [],
  span: before.span ?? 20,
  cursor: null,
  end: null,
  fit: 0,
  borders: before.borders ?? BORDERS,
  open: before.open ?? {},
  tour: 0,
  help: false,
});

function preferredTheme(): Ui["theme"] {
  return matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
}

function viewFromAddress(): View {
  const name = location.hash.slice(1);
  return (["chooser", "fly", "diagram", "calibrate", "report", "campaign"] as const).find((view) => view === name) ?? "fly";
}

window.addEventListener("hashchange", () => ui.set({ view: viewFromAddress() }));

ui.listen(() => {
  const { theme, layout, camera, span, borders, open, split } = ui.value;
  document.documentElement.dataset.theme = theme;
  try {
    localStorage.setItem(KEY, JSON.stringify({ theme, layout, camera, span, borders, open, split }));
  } catch {
    // private windows may have no storage: the page works without
  }
});
document.documentElement.dataset.theme = ui.value.theme;

export function show(view: View): void {
  if (!leaveGuard(view)) return;
  if (location.hash !== `#${view}`) location.hash = view;
  ui.set({ view, drawer: false });
}

/** Asked before the view changes; the diagram sets it while it has changes that were not applied. */
let leaveGuard: (view: View) => boolean = () => true;
export function guardLeaving(guard: ((view: View) => boolean) | null): void {
  leaveGuard = guard ?? (() => true);
}

// charts

let nextChart = 1;
export function chart(title: string, signals: string[]): ChartSpec {
  return { id: nextChart++, title, signals };
}

function chartsFrom(list: readonly M.Chart[]): ChartSpec[] {
  return list.map(({ title, signals }) => chart(title, signals));
}

let chartsOf: M.Chart[] | null = null;
world.listen(() => {
  const { charts } = world.value;
  if (charts === chartsOf) return;
  const first = chartsOf === null || ui.value.charts.length === 0 || newSession;
  chartsOf = charts;
  newSession = false;
  if (first) ui.set({ charts: chartsFrom(charts) });
});

let newSession = true;
let loaded = "";
onSession((session) => {
  // after a loss of the connection the charts stay as they were
  const key = `${session.choice} ${session.vehicle} ${session.started}`;
  newSession = key !== loaded;
  loaded = key;
  ui.set({ cursor: null, end: null });
});

export function addChart(signal: M.Signal): void {
  ui.set(({ charts }) => ({ charts: [...charts, chart(signal.title, [signal.name])] }));
}

/** A signal of another unit gets a chart of its own. */
export function addToChart(id: number, name: string): void {
  const known = new Map(world.value.signals.map((s) => [s.name, s]));
  const signal = known.get(name);
  const first = known.get(ui.value.charts.find((c) => c.id === id)?.signals[0] ?? "");
  if (signal && first && signal.unit !== first.unit) addChart(signal);
  else extendChart(id, name);
}

function extendChart(id: number, signal: string): void {
  ui.set(({ charts }) => ({
    charts: charts.map((c) => (c.id === id && !c.signals.includes(signal) ? { ...c, signals: [...c.signals, signal] } : c)),
  }));
}

export function removeFromChart(id: number, signal: string): void {
  ui.set(({ charts }) => ({ charts: charts.map((c) => (c.id === id ? { ...c, signals: c.signals.filter((s) => s !== signal) } : c)) }));
}

export function removeChart(id: number): void {
  ui.set(({ charts }) => ({ charts: charts.filter((c) => c.id !== id) }));
}

export function standardCharts(): void {
  ui.set({ charts: chartsFrom(world.value.charts), split: null });
}

// time

/** The time that everything on the page shows. */
export function shownTime(): number {
  return ui.value.cursor ?? live.frame?.t ?? 0;
}

/** Look at an earlier time; the simulation goes on. */
export function lookAt(t: number): void {
  const newest = live.frame?.t ?? 0;
  const oldest = Number.isFinite(live.samples.first) ? Math.min(live.samples.first, newest) : 0;
  const time = Math.min(newest, Math.max(oldest, t));
  const { span, end } = ui.value;
  let edge = end ?? newest;
  if (time > edge) edge = Math.min(newest, time + span / 2);
  if (time < edge - span) edge = time + span / 2;
  ui.set({ cursor: time, end: edge });
}

export function backToLive(): void {
  ui.set({ cursor: null, end: null });
}

export async function continueFromHere(): Promise<void> {
  const t = ui.value.cursor;
  if (t === null) return;
  if (await act({ type: "continue_from", t_s: t }, "Cannot continue from here")) backToLive();
}

// layouts

export function layoutNow(): Record<string, unknown> {
  const { borders, charts, camera, open, span, split } = ui.value;
  return { borders, charts: charts.map(({ title, signals }) => ({ title, signals })), camera, open, span, split };
}

export function useLayout(name: string, layout: Record<string, unknown>): void {
  const saved = layout as Partial<Omit<Ui, "charts">> & { charts?: M.Chart[] };
  ui.set({
    layout: name,
    borders: saved.borders ?? BORDERS,
    charts: saved.charts ? chartsFrom(saved.charts) : ui.value.charts,
    camera: saved.camera ?? "chase",
    open: saved.open ?? {},
    span: saved.span ?? 20,
    split: saved.split ?? null,
  });
}

export async function saveLayout(name: string): Promise<void> {
  const reply = await connection.ask({ type: "save_layout", name, layout: layoutNow() });
  if (reply.ok) {
    ui.set({ layout: name });
    toast("ok", `Layout “${name}” saved`);
  } else toast("error", "The layout was not saved", reply.error);
}
