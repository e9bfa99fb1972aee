// The state of the page: what the server reported, what is looked at, and what the user may do.
import type * as M from "../messages.ts";
import { CONSOLE } from "../messages.ts";
import { Connection, StickSender, type LinkStatus, type Request } from "./connection.ts";
import { seconds } from "./format.ts";
import { has, type Frame, type StateName } from "./frame.ts";
import { Poses } from "./poses.ts";
import { Samples } from "./samples.ts";
import { Store } from "./store.ts";
import { toast } from "./toasts.ts";

export const link = new Store({ status: "connecting" as LinkStatus, retryInS: 0, lostAtS: 0 });

export interface World {
  hello: M.Hello | null;
  session: M.Session | null;
  signals: M.Signal[];
  charts: M.Chart[];
  diagram: M.DiagramState | null;
  sensors: M.SensorState[];
  faults: M.Faults["faults"];
  scene: M.SceneState | null;
  lights: M.Light[];
  device: M.Device | null;
  events: M.Event[];
  takes: M.Takes;
  clients: M.Client[];
  calibration: M.Calibration | null;
  layouts: M.Layouts["layouts"];
}
const nothing: World = {
  hello: null, session: null, signals: [], charts: [], diagram: null, sensors: [], faults: {}, scene: null, lights: [], device: null,
  events: [], takes: { type: "takes", present: 0, takes: [], dropped: null }, clients: [], calibration: null, layouts: {},
};
export const world = new Store<World>(nothing);

/** What a frame states of the whole session; updated at most ten times a second, and at once when a state changes. */
export const now = new Store({ t: 0, factor: 0, speed: 1, state: 0, take: 0, mode: 0, dropped: 0 });

/** Numbers of the latest frame and all that was received; not for React. */
export const live = {
  frame: null as Frame | null,
  samples: new Samples(1),
  poses: new Poses(0, 1),
  values: null as M.Values | null,
  console: {} as Record<(typeof CONSOLE)[number], number>,
  frames: 0,
};

const RECENT_S = 70;
let carried: M.Signal[] = [];
let carriedEpoch = -1;
let chartSignals: string[] = [];
let posesAsked = -1; // session whose earlier poses were asked for
let lastNow = 0;

function byName(): Map<string, M.Signal> {
  return new Map(world.value.signals.map((signal) => [signal.name, signal]));
}

function receiveFrame(frame: Frame): void {
  const before = now.value;
  live.frame = frame;
  live.frames++;
  CONSOLE.forEach((name, i) => (live.console[name] = frame.console[i]!));
  if (live.samples.last > frame.t + 1e-6) live.samples.cut(frame.t + 1e-6); // rewound
  const columns = carried.reduce((sum, signal) => sum + signal.size, 0);
  if (frame.epoch === carriedEpoch && frame.samples.length === columns * frame.times.length) live.samples.append(frame.times, carried, frame.samples);
  if (frame.bodies === live.poses.bodies) {
    live.poses.append(frame.t, frame.poses, Number.isFinite(frame.estimate[3]!) ? frame.estimate : null);
  }
  const time = performance.now();
  const mode = live.console.mode;
  if (time - lastNow > 100 || frame.state !== before.state || mode !== before.mode || frame.take !== before.take) {
    lastNow = time;
    now.set({ t: frame.t, factor: frame.factor, speed: frame.speed, state: frame.state, take: frame.take, mode, dropped: frame.dropped });
  }
  for (const listener of frameListeners) listener(frame);
}

const frameListeners = new Set<(frame: Frame) => void>();
/** Called for every frame. */
export function onFrame(listener: (frame: Frame) => void): () => void {
  frameListeners.add(listener);
  return () => frameListeners.delete(listener);
}

function receive(message: M.Message): void {
  switch (message.type) {
    case "hello":
      world.set({ ...nothing, hello: message, layouts: message.layouts });
      connection.send({ type: "introduce", name: clientName() });
      break;
    case "session":
      if (message.started === world.value.session?.started && message.bodies.length === live.poses.bodies) {
        world.set({ session: message }); // rewound, or changed: what was received stays
        break;
      }
      live.samples = new Samples(rowsKept());
      live.poses = new Poses(message.bodies.length, posesKept());
      live.frame = null;
      world.set({ session: message, events: [], calibration: null, device: null });
      sessionListeners.forEach((listener) => listener(message));
      break;
    case "signals":
      world.set({ signals: message.signals, charts: message.charts });
      break;
    case "subscription": {
      const known = byName();
      carriedEpoch = message.epoch;
      carried = message.signals.flatMap((name) => known.get(name) ?? []);
      const isNew = carried.some((signal) => !live.samples.has(signal.name));
      live.samples.carry(carried);
      if (isNew && carried.length) fetchHistory();
      fetchPoses();
      break;
    }
    case "diagram": world.set({ diagram: message }); break;
    case "sensors": world.set({ sensors: message.sensors }); break;
    case "faults": world.set({ faults: message.faults }); break;
    case "scene": world.set({ scene: message }); break;
    case "lights": world.set({ lights: message.lights }); break;
    case "device": world.set({ device: message }); break;
    case "events":
      world.set(({ events }) => ({ events: message.whole ? message.events : [...events, ...message.events] }));
      break;
    case "takes":
      world.set({ takes: message });
      if (message.dropped) toast("warn", `Take “${message.dropped}” was dropped`, "At most three earlier takes are kept.");
      break;
    case "clients": world.set({ clients: message.clients }); break;
    case "calibration": world.set({ calibration: message }); break;
    case "layouts": world.set({ layouts: message.layouts }); break;
    case "values": live.values = message; break;
    case "notice":
      toast(message.level === "info" ? "ok" : message.level === "warning" ? "warn" : "error", message.text);
      break;
    case "reply": break;
  }
}

const sessionListeners = new Set<(session: M.Session) => void>();
export function onSession(listener: (session: M.Session) => void): () => void {
  sessionListeners.add(listener);
  return () => sessionListeners.delete(listener);
}

/** ?buffers=0.01 keeps a hundredth of the samples, for tests of long flights. */
const share = Number(new URLSearchParams(location.search).get("buffers") ?? 1) || 1;

function rowsKept(): number {
  const hello = world.value.hello;
  return Math.max(50, Math.ceil((hello ? hello.history_s * hello.chart_hz : 60_000) * share));
}

function posesKept(): number {
  const hello = world.value.hello;
  return Math.max(50, Math.ceil((hello ? hello.history_s * hello.frame_hz : 18_000) * share));
}

function fetchHistory(): void {
  const order = carried;
  const session = world.value.session;
  const wanted = order.filter((signal) => chartSignals.includes(signal.name));
  if (wanted.length === 0) return;
  const put = (frame: Frame): void => {
    if (world.value.session === session) live.samples.prepend(frame.times, wanted, frame.samples);
  };
  // what charts show first in full, what is further back thinned
  const signals = wanted.map((signal) => signal.name);
  const from = Math.max(0, now.value.t - RECENT_S);
  connection.history({ signals, from_s: from, most_rows: Math.min(20_000, rowsKept()) }, put);
  if (from > 0) connection.history({ signals, to_s: from, most_rows: Math.min(6_000, rowsKept()) }, put);
}

/** The way until now, for the trail and for looking back. */
function fetchPoses(): void {
  const session = world.value.session;
  if (!session || session.started === posesAsked) return;
  posesAsked = session.started;
  const poses = live.poses;
  connection.history({ poses: true, most_rows: Math.min(6_000, posesKept()) }, (frame) => {
    if (live.poses === poses && frame.bodies === poses.bodies) poses.prepend(frame.times, frame.poses);
  });
}

let subscribed = "";
/** The signals of the charts; frames carry their samples. */
export function subscribe(signals: string[]): void {
  const key = JSON.stringify([world.value.session?.started, signals, world.value.signals.length, link.value.status]);
  if (key === subscribed) return;
  subscribed = key;
  chartSignals = signals;
  connection.send({ type: "subscribe", signals });
}

function clientName(): string {
  return /Mobile/.test(navigator.userAgent) ? "phone" : "browser";
}

const address = new URL("live", location.href);
address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
address.search = "";

export const connection = new Connection(address.href, {
  message: receive,
  frame: receiveFrame,
  status(status, retryInS) {
    if (status === "lost" && link.value.status === "open") link.set({ lostAtS: now.value.t });
    if (status === "open") {
      sticks.forget();
      subscribed = "";
      posesAsked = -1;
    }
    link.set({ status, retryInS });
  },
});

const sticks = new StickSender((changes) => connection.send({ type: "sticks", ...changes }));
export const moveSticks = (changes: Record<string, number>): void => sticks.move(changes);

/** The answer to a command; null, and a toast, if the server refuses it or does not answer. */
export async function answer(command: Request, failure: string): Promise<M.Reply | null> {
  try {
    const reply = await connection.ask(command);
    if (reply.ok) return reply;
    toast("error", failure, sentenceCase(reply.problems[0]?.message ?? reply.error));
    return reply.problems.length ? reply : null;
  } catch (error) {
    toast("error", failure, sentenceCase((error as Error).message));
    return null;
  }
}

/** Carry out a command; what the server refuses is shown. True if it was carried out. */
export async function act(command: Request, failure = "Not carried out"): Promise<boolean> {
  return (await answer(command, failure))?.ok ?? false;
}

export function sentenceCase(text: string): string {
  const trimmed = text.trim();
  if (!trimmed) return "";
  const whole = trimmed[0]!.toUpperCase() + trimmed.slice(1);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
}

export const operate = (changes: Extract<Request, { type: "console" }>["changes"]): Promise<boolean> =>
  act({ type: "console", changes }, "The console refused it");

/** Begin a recording, or end it and offer it as a download. */
export async function toggleRecording(): Promise<void> {
  const recording = is("recording");
  if (!(await act({ type: "record", on: !recording }, "Recording did not change"))) return;
  if (recording) toast("ok", "Recording ended", `To ${seconds(now.value.t)}.`, { label: "Download", run: () => undefined, href: "download/recording", download: "" });
  else toast("ok", "Recording begins", `At ${seconds(now.value.t)}.`);
}

export function is(name: StateName): boolean {
  return has(now.value.state, name);
}

/** A quantity as it is shown: unit and factor from SI. "rad/s/√Hz" is shown as its first part, rad/s. */
export function shownAs(unit: string | null | undefined): M.Display {
  const display = world.value.hello?.display ?? {};
  const text = unit ?? "";
  if (display[text]) return display[text];
  let best = "";
  for (const known of Object.keys(display)) {
    if (known.length > best.length && known !== "1" && text.startsWith(known) && "/ ".includes(text[known.length] ?? "x")) best = known;
  }
  const first = display[best];
  return first ? { unit: first.unit + text.slice(best.length), factor: first.factor } : { unit: text, factor: 1 };
}
