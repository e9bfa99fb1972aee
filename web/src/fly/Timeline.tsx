// The timeline: states, events and faults. Dragging its handle looks back while the simulation goes on.
import { useEffect, useRef, type ReactNode } from "react";
import { rem, token } from "../scene/colours.ts";
import { fixed, seconds } from "../state/format.ts";
import { everyFrame } from "../state/loop.ts";
import { act, live, now, world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { toast } from "../state/toasts.ts";
import { backToLive, continueFromHere, lookAt, shownTime, ui } from "../state/ui.ts";
import { Button, Menu } from "../ui/controls.tsx";
import { Play, Plus } from "../ui/icons.tsx";
import { faults, shortText, states } from "./happenings.ts";

const KEPT_S = 600;
const SHOWN_KINDS = ["lift_off", "touch_down", "push", "sensor", "parameters", "diagram", "scene", "tipped", "impact", "away", "stopped", "rewind", "mark", "refused", "landed"];

export function Timeline(): ReactNode {
  return (
    <section className="timeline" id="region-timeline" aria-label="Timeline" tabIndex={-1}>
      <TimelineHead />
      <TimelineCanvas />
    </section>
  );
}

function TimelineHead(): ReactNode {
  const cursor = useStore(ui, (u) => u.cursor);
  const t = useStore(now, (n) => n.t);
  const takes = useStore(world, (w) => w.takes);
  const clients = useStore(world, (w) => w.clients);
  const replay = useStore(world, (w) => w.session?.mode === "replay");
  const device = useStore(world, (w) => w.session?.mode === "device");
  if (cursor === null) {
    return (
      <div className="tlh">
        <h2>Timeline</h2>
        <span className="badge ok">Live</span>
        <span className="dim s xl-only">the last {KEPT_S} s are kept</span>
        <span className="grow" />
        <Takes />
        <Button className="small" title="M" onClick={() => void act({ type: "mark" }).then((ok) => ok && toast("ok", "Time marked"))}><Plus />Mark</Button>
        <span className="dim s wide-only">drag the handle to look back</span>
      </div>
    );
  }
  const others = clients.length - 1;
  const hint = others > 0 ? `Also changes what ${others === 1 ? "one other client sees" : `${others} other clients see`}` : `The present run is kept as a take (${Math.min(3, takes.takes.length + 1)} of 3)`;
  return (
    <div className="tlh">
      <h2>Timeline</h2>
      <span className="s">Looking at <b>{seconds(cursor)}</b>, {fixed(Math.max(0, t - cursor), 2)} s back</span>
      {!device && <span className={`s xl-only ${others > 0 ? "cwarn" : "dim"}`}>{hint}</span>}
      <span className="grow" />
      <Button className="small quiet" title="Esc" onClick={backToLive}>Back to {seconds(t)}</Button>
      {!device && <Button className="small prim" title={`Shift+Enter. ${hint}.`} onClick={() => void continueFromHere()}><Play />{replay ? "Go to here" : "Continue from here"}</Button>}
    </div>
  );
}

function Takes(): ReactNode {
  const takes = useStore(world, (w) => w.takes);
  if (takes.takes.length === 0) return null;
  const count = takes.takes.length === 1 ? "1 take" : `${takes.takes.length} takes`;
  return (
    <Menu
      label={`${count} before this one`}
      className="btn small"
      items={takes.takes.map((take) => ({
        text: take.title,
        detail: `to ${seconds(take.end_s)}`,
        run: () => window.open(`download/report?take=${take.number}`, "_blank", "noopener"),
      }))}
    >
      {count}
    </Menu>
  );
}

interface Scale {
  from: number;
  to: number;
  x(t: number): number;
  t(x: number): number;
  left: number;
  width: number;
}

function scaleOf(width: number, f: number): Scale {
  const newest = live.frame?.t ?? 0;
  const left = 58 * f;
  const inner = width - left - 22 * f;
  const to = Math.max(20, newest);
  const from = Math.max(0, to - Math.max(60, Math.min(KEPT_S, to)));
  return { from, to, left, width: inner, x: (t) => left + ((t - from) / (to - from)) * inner, t: (x) => from + ((x - left) / inner) * (to - from) };
}

function TimelineCanvas(): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const cursor = useStore(ui, (u) => u.cursor);
  const newest = useStore(now, (n) => Math.round(n.t));
  useEffect(() => everyFrame(6, () => canvas.current && draw(canvas.current), true), []);
  const look = (event: React.PointerEvent): void => {
    const box = canvas.current!.getBoundingClientRect();
    const scale = scaleOf(box.width, rem() / 16);
    const t = scale.t(event.clientX - box.left);
    if (t >= (live.frame?.t ?? 0) - 0.004 * (scale.to - scale.from)) backToLive();
    else lookAt(t);
  };
  const keys = (event: React.KeyboardEvent): void => {
    const hz = world.value.hello?.chart_hz ?? 50;
    const by: Record<string, number> = { ArrowLeft: -1 / hz, ArrowRight: 1 / hz, PageDown: -10, PageUp: 10, ArrowDown: -1, ArrowUp: 1 };
    if (event.key === "Home") lookAt(0);
    else if (event.key === "End") backToLive();
    else if (event.key in by) lookAt(shownTime() + by[event.key]!);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div
      className="tlc"
      role="slider"
      tabIndex={0}
      aria-label="Time that is looked at"
      aria-valuemin={0}
      aria-valuemax={newest}
      aria-valuenow={Math.round(cursor ?? newest)}
      aria-valuetext={cursor === null ? "live" : `${seconds(cursor)}, looking back`}
      onKeyDown={keys}
      onPointerDown={(e) => {
        e.currentTarget.setPointerCapture(e.pointerId);
        look(e);
      }}
      onPointerMove={(e) => e.buttons && look(e)}
    >
      <canvas ref={canvas} aria-hidden="true" />
      <EventTable />
    </div>
  );
}

/** The events as a table for screen readers. */
function EventTable(): ReactNode {
  const events = useStore(world, (w) => w.events);
  return (
    <table className="sr">
      <caption>Events</caption>
      <tbody>{events.slice(-20).map((e) => <tr key={e.number}><td>{seconds(e.t_s)}</td><td>{e.text}</td></tr>)}</tbody>
    </table>
  );
}

function draw(canvas: HTMLCanvasElement): void {
  const ratio = Math.min(2, devicePixelRatio);
  const [W, H] = [canvas.clientWidth, canvas.clientHeight];
  if (!W || !H) return;
  if (canvas.width !== Math.round(W * ratio) || canvas.height !== Math.round(H * ratio)) {
    canvas.width = Math.round(W * ratio);
    canvas.height = Math.round(H * ratio);
  }
  const c = canvas.getContext("2d");
  if (!c) return;
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, W, H);
  const f = rem() / 16;
  const scale = scaleOf(W, f);
  const lane = (H - 22 * f) / 3;
  const newest = live.frame?.t ?? 0;
  const at = shownTime();
  const looking = ui.value.cursor !== null;
  c.font = `${11 * f}px ${token("font-ui")}`;
  c.textBaseline = "middle";
  ["State", "Events", "Faults"].forEach((name, i) => {
    c.fillStyle = token("text-3");
    c.textAlign = "right";
    c.fillText(name, scale.left - 9 * f, (i + 0.5) * lane);
    c.fillStyle = token("bg-2");
    c.fillRect(scale.left, i * lane + 2, scale.width, lane - 4);
  });
  c.save();
  c.beginPath();
  c.rect(scale.left - 6 * f, 0, scale.width + 28 * f, H);
  c.clip();
  c.textAlign = "left";
  stateLane(c, scale, lane, f, newest);
  faultLane(c, scale, lane, f, newest);
  if (looking) {
    c.globalAlpha = 0.5;
    c.fillStyle = token("bg-1");
    c.fillRect(scale.x(at), 0, scale.x(newest) - scale.x(at), 3 * lane);
    c.globalAlpha = 1;
  }
  eventLane(c, scale, lane, f, at);
  c.restore();
  ticks(c, scale, lane, f, at, newest, looking);
  handle(c, scale.x(at), lane, f, `${fixed(at, 2)} s`, W);
}

function stretch(c: CanvasRenderingContext2D, x0: number, x1: number, i: number, lane: number, f: number, fill: string, colour: string, text: string): void {
  c.fillStyle = token(fill);
  c.fillRect(x0 + 0.5, i * lane + 2, Math.max(1, x1 - x0 - 1), lane - 4);
  if (!text || c.measureText(text).width > x1 - x0 - 8 * f) return;
  c.fillStyle = token(colour);
  c.fillText(text, Math.max(x0, 58 * f) + 5 * f, (i + 0.5) * lane);
}

function stateLane(c: CanvasRenderingContext2D, scale: Scale, lane: number, f: number, newest: number): void {
  const modes = world.value.hello?.controls.find((control) => control.name === "mode")?.choices ?? [];
  const look = { off: ["bg-3", "text-2"], on: ["bg-3", "text-1"], calibrate: ["accent-soft", "text-1"], armed: ["warn-soft", "warn"] } as const;
  for (const s of states(world.value.events, newest, modes)) {
    const [fill, colour] = look[s.state];
    stretch(c, scale.x(Math.max(scale.from, s.from)), scale.x(s.to), 0, lane, f, fill, colour, s.text);
  }
}

function faultLane(c: CanvasRenderingContext2D, scale: Scale, lane: number, f: number, newest: number): void {
  for (const fault of faults(world.value.events)) {
    const [a, b] = [scale.x(fault.from), scale.x(Math.min(fault.to, newest))];
    const name = String(fault.event.data.name ?? fault.words);
    const text = name.includes(fault.text) ? name : `${name}: ${fault.text}`;
    const long = c.measureText(text).width;
    stretch(c, a, b, 2, lane, f, "error-soft", "error", "");
    c.fillStyle = token("error");
    if (long < b - a - 8 * f) c.fillText(text, a + 5 * f, 2.5 * lane);
    else if (b + 5 * f + long < scale.left + scale.width) c.fillText(text, b + 5 * f, 2.5 * lane);
    else c.fillText(text, a - 5 * f - long, 2.5 * lane);
  }
}

function eventLane(c: CanvasRenderingContext2D, scale: Scale, lane: number, f: number, at: number): void {
  let free = -Infinity;
  const shown = world.value.events.filter((e) => SHOWN_KINDS.includes(e.kind) && e.t_s >= scale.from);
  for (const event of shown) {
    const x = scale.x(event.t_s);
    const y = 1.5 * lane;
    const later = event.t_s > at;
    const colour = later ? "text-3" : ["sensor", "parameters", "diagram", "scene"].includes(event.kind) ? "accent" : ["tipped", "impact", "stopped", "refused"].includes(event.kind) ? "error" : "text-2";
    c.fillStyle = c.strokeStyle = token(colour);
    c.lineWidth = 1.2;
    c.beginPath();
    c.moveTo(x, y - 5 * f);
    c.lineTo(x + 4.5 * f, y);
    c.lineTo(x, y + 5 * f);
    c.lineTo(x - 4.5 * f, y);
    c.closePath();
    if (later) c.stroke();
    else c.fill();
    if (x < free) continue;
    const next = shown.find((e) => e.t_s > event.t_s);
    const room = (next ? scale.x(next.t_s) : scale.left + scale.width + 20 * f) - x - 18 * f;
    let text = shortText(event);
    text = text[0]!.toUpperCase() + text.slice(1);
    while (text.length > 3 && c.measureText(text).width > Math.max(room, 60 * f)) text = `${text.slice(0, -2).trimEnd()}…`;
    c.fillText(text, x + 8 * f, y);
    free = x + 14 * f + c.measureText(text).width;
  }
}

function ticks(c: CanvasRenderingContext2D, scale: Scale, lane: number, f: number, at: number, newest: number, looking: boolean): void {
  const span = scale.to - scale.from;
  const step = [5, 10, 20, 30, 60, 120].find((s) => (s / span) * scale.width > 62 * f) ?? 120;
  c.textAlign = "center";
  for (let t = Math.ceil(scale.from / step) * step; t <= scale.to; t += step) {
    const x = scale.x(t);
    c.strokeStyle = token("line");
    c.lineWidth = 1;
    c.beginPath();
    c.moveTo(x + 0.5, 3 * lane);
    c.lineTo(x + 0.5, 3 * lane + 4);
    c.stroke();
    c.fillStyle = token("text-3");
    if (Math.abs(x - scale.x(at)) > 44 * f && (!looking || Math.abs(x - scale.x(newest)) > 40 * f)) c.fillText(`${t} s`, x, 3 * lane + 12 * f);
  }
  if (!looking) return;
  const x = scale.x(newest);
  c.strokeStyle = token("text-2");
  c.setLineDash([3, 3]);
  c.beginPath();
  c.moveTo(x, 0);
  c.lineTo(x, 3 * lane + 3);
  c.stroke();
  c.setLineDash([]);
  c.fillStyle = token("text-2");
  if (x - scale.x(at) > 62 * f) c.fillText("newest", x, 3 * lane + 12 * f);
}

function handle(c: CanvasRenderingContext2D, at: number, lane: number, f: number, text: string, width: number): void {
  const x = Math.round(at) + 0.5;
  c.strokeStyle = token("accent");
  c.lineWidth = 2;
  c.beginPath();
  c.moveTo(x, 0);
  c.lineTo(x, 3 * lane + 4);
  c.stroke();
  const w = c.measureText(text).width + 12 * f;
  const left = Math.min(Math.max(0, x - w / 2), width - w - 1);
  c.fillStyle = token("accent-fill");
  c.beginPath();
  c.roundRect(left, 3 * lane + 2 * f, w, 18 * f, 4 * f);
  c.fill();
  c.fillStyle = token("on-accent");
  c.textAlign = "left";
  c.fillText(text, left + 6 * f, 3 * lane + 11.5 * f);
}
