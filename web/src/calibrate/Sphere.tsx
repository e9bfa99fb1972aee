// The sphere of directions of the magnetic field: what was seen, what is missing. Dragging it turns the sensor.
import { Matrix4, Quaternion, Vector3 } from "three";
import { useEffect, useRef, useState, type ReactNode } from "react";
import type { Calibration } from "../messages.ts";
import { token } from "../scene/colours.ts";
import { act, connection } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { ui } from "../state/ui.ts";
import { Button } from "../ui/controls.tsx";
import { border, cellsOf, nearestMissing } from "./cells.ts";

const TURN_PER_PX = 0.012;
const TURN_PER_KEY = 0.35;
const SEND_MS = 120;
const TOUR = 28; // attitudes of the automatic turn

/** Attitudes spread evenly over all rotations. */
function spread(i: number, n: number): Quaternion {
  const s = i + 0.5;
  const [r, R] = [Math.sqrt(s / n), Math.sqrt(1 - s / n)];
  const a = (2 * Math.PI * s) / Math.SQRT2;
  const b = (2 * Math.PI * s) / 1.533751168755204288118041;
  return new Quaternion(r * Math.sin(a), r * Math.cos(a), R * Math.sin(b), R * Math.cos(b));
}

export function Sphere({ calibration }: { calibration: Calibration }): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const attitude = useRef(new Quaternion());
  const theme = useStore(ui, (u) => u.theme);
  const [turning, setTurning] = useState(false);
  const latest = useRef(calibration);
  latest.current = calibration;
  const open = !calibration.by_hand && (calibration.state === "waiting" || calibration.state === "ready");
  useEffect(() => {
    const [w, x, y, z] = calibration.attitude ?? [];
    if (z !== undefined) attitude.current.set(x!, y!, z, w!); // of a real module
    const draw = (): void => void (canvas.current && drawSphere(canvas.current, latest.current, attitude.current));
    draw();
    const watch = new ResizeObserver(draw);
    watch.observe(canvas.current!);
    return () => watch.disconnect();
  }, [calibration, theme]);
  const timer = useRef(0);
  const send = (): void => {
    if (canvas.current) drawSphere(canvas.current, latest.current, attitude.current);
    if (timer.current) return;
    timer.current = window.setTimeout(() => {
      timer.current = 0;
      const { w, x, y, z } = attitude.current;
      connection.send({ type: "calibrate", action: "turn", attitude: [w, x, y, z] });
    }, SEND_MS);
  };
  const turn = (dx: number, dy: number): void => {
    if (!open) return;
    const by = new Quaternion().setFromAxisAngle(new Vector3(0, 0, 1), dx).multiply(new Quaternion().setFromAxisAngle(new Vector3(0, 1, 0), dy));
    attitude.current.premultiply(by).normalize();
    send();
  };
  useEffect(() => {
    if (!turning) return;
    let i = 0;
    let stopped = false;
    const next = async (): Promise<void> => {
      const state = latest.current.state;
      if (stopped || i >= TOUR || (state !== "waiting" && state !== "ready")) return setTurning(false);
      const q = spread(i++, TOUR);
      attitude.current.copy(q);
      const ok = await act({ type: "calibrate", action: "turn", attitude: [q.w, q.x, q.y, q.z] });
      if (ok) window.setTimeout(() => void next(), SEND_MS);
      else setTurning(false);
    };
    void next();
    return () => void (stopped = true);
  }, [turning]);
  return (
    <div className="sphere">
      <canvas
        ref={canvas}
        role="application"
        tabIndex={0}
        aria-label={`Directions of the field, ${Math.round(100 * calibration.coverage)} % covered. ${calibration.by_hand ? "Turn the module itself." : "Drag or use the arrow keys to turn the sensor."}`}
        onPointerDown={(e) => e.currentTarget.setPointerCapture(e.pointerId)}
        onPointerMove={(e) => e.buttons && turn(e.movementX * TURN_PER_PX, e.movementY * TURN_PER_PX)}
        onKeyDown={(e) => {
          const by: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
          const step = by[e.key];
          if (!step) return;
          e.preventDefault();
          e.stopPropagation();
          turn(step[0] * TURN_PER_KEY, step[1] * TURN_PER_KEY);
        }}
      />
      <div className="sphere-foot">
        {!calibration.by_hand && <Button className="small" onClick={() => setTurning(!turning)} missing={open ? undefined : "Start again to turn the sensor"}>{turning ? "Stop turning" : "Turn for me"}</Button>}
        <span className="xs dim3">{calibration.by_hand ? "Turn the module; the sphere turns with it" : "Drag the sphere, or use the arrow keys"}</span>
      </div>
    </div>
  );
}

export function drawSphere(canvas: HTMLCanvasElement, calibration: Pick<Calibration, "state" | "covered" | "missing" | "points">, attitude: Quaternion): void {
  const ratio = Math.min(2, devicePixelRatio);
  const [w, h] = [canvas.clientWidth, canvas.clientHeight];
  if (!w || !h) return;
  canvas.width = Math.round(w * ratio);
  canvas.height = Math.round(h * ratio);
  const c = canvas.getContext("2d");
  if (!c) return;
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  const r = Math.min(w, h) / 2 - 14;
  const [cx, cy] = [w / 2, h / 2];
  // seen from the side and slightly above, turning with the sensor
  const look = new Matrix4().lookAt(new Vector3(-2.2, -1.4, 0.9), new Vector3(), new Vector3(0, 0, 1)).invert();
  const view = look.multiply(new Matrix4().makeRotationFromQuaternion(attitude));
  const project: Project = (p) => {
    const q = p.clone().applyMatrix4(view);
    return [cx + q.x * r, cy - q.y * r, q.z];
  };
  c.fillStyle = token("plot");
  c.beginPath();
  c.arc(cx, cy, r, 0, 7);
  c.fill();
  const cells = cellsOf(calibration.covered, calibration.missing);
  const drawn = cells.map((cell) => ({ seen: cell.seen, depth: project(vector(cell.middle))[2], corners: border(cell).map((p) => project(vector(p))) }));
  drawn.sort((p, q) => p.depth - q.depth);
  for (const { corners, depth, seen } of drawn) {
    c.beginPath();
    corners.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.closePath();
    const front = depth > 0;
    if (seen) {
      c.globalAlpha = front ? 0.42 : 0.1;
      c.fillStyle = token("ok");
      c.fill();
    }
    c.globalAlpha = front ? 0.75 : 0.16;
    c.strokeStyle = seen ? token("ok") : token("line-2");
    c.lineWidth = 1;
    c.setLineDash(seen ? [] : [3, 3]);
    c.stroke();
    c.setLineDash([]);
  }
  c.globalAlpha = 1;
  const now = points(c, calibration.points, project);
  const target = now && nearestMissing(cells, now);
  if (now && target && calibration.state === "waiting") way(c, vector(now), vector(target.middle), project);
  c.strokeStyle = token("line-2");
  c.lineWidth = 1;
  c.beginPath();
  c.arc(cx, cy, r, 0, 7);
  c.stroke();
}

type Project = (p: Vector3) => [number, number, number];

const vector = (p: readonly number[]): Vector3 => new Vector3(p[0], p[1], p[2]);

/** The way on the sphere to the nearest cell that is missing. */
function way(c: CanvasRenderingContext2D, from: Vector3, to: Vector3, project: Project): void {
  const angle = from.angleTo(to);
  if (angle < 0.05) return;
  const at = (share: number): [number, number, number] =>
    project(from.clone().multiplyScalar(Math.sin((1 - share) * angle)).addScaledVector(to, Math.sin(share * angle)).normalize());
  c.strokeStyle = c.fillStyle = token("accent");
  c.lineWidth = 2;
  c.setLineDash([6, 4]);
  c.beginPath();
  for (let i = 0; i <= 16; i++) {
    const [x, y] = at(i / 16);
    if (i) c.lineTo(x, y);
    else c.moveTo(x, y);
  }
  c.stroke();
  c.setLineDash([]);
  const [[x0, y0], [x1, y1]] = [at(0.94), at(1)];
  const turn = Math.atan2(y1 - y0, x1 - x0);
  c.beginPath();
  c.moveTo(x1, y1);
  for (const side of [2.7, -2.7]) c.lineTo(x1 + 10 * Math.cos(turn + side), y1 + 10 * Math.sin(turn + side));
  c.fill();
  words(c, "turn here", x1 + 10, y1 + 16, "accent");
}

function words(c: CanvasRenderingContext2D, text: string, x: number, y: number, colour: string): void {
  c.font = `600 11px ${token("font-ui")}`;
  c.lineWidth = 3;
  c.strokeStyle = token("plot");
  c.strokeText(text, x, y);
  c.fillStyle = token(colour);
  c.fillText(text, x, y);
}

/** Readings on the sphere; the direction of the newest, or null. */
function points(c: CanvasRenderingContext2D, list: readonly number[][], project: Project): number[] | null {
  if (list.length === 0) return null;
  const low = [0, 1, 2].map((k) => Math.min(...list.map((p) => p[k]!)));
  const high = [0, 1, 2].map((k) => Math.max(...list.map((p) => p[k]!)));
  const middle = low.map((v, k) => (v + high[k]!) / 2);
  const direction = (p: readonly number[]): Vector3 => vector(p.map((v, k) => v - middle[k]!)).normalize();
  c.fillStyle = token("truth");
  for (const p of list) {
    const [x, y, z] = project(direction(p));
    c.globalAlpha = z > 0 ? 0.95 : 0.25;
    c.fillRect(x - 1, y - 1, 2, 2);
  }
  const now = direction(list.at(-1)!);
  const [x, y] = project(now);
  c.globalAlpha = 1;
  c.fillStyle = token("accent-fill");
  c.strokeStyle = token("on-accent");
  c.lineWidth = 1.5;
  c.beginPath();
  c.arc(x, y, 6, 0, 7);
  c.fill();
  c.stroke();
  words(c, "now", x + 10, y - 6, "text-1");
  return now.lengthSq() > 0 ? [now.x, now.y, now.z] : null;
}
