// The sphere of directions of the magnetic field: what was seen, what is missing. Dragging it turns the sensor.
import { Matrix4, Quaternion, Vector3 } from "three";
import { useEffect, useRef, useState, type ReactNode } from "react";
import type { Calibration } from "../messages.ts";
import { token } from "../scene/colours.ts";
import { act, connection } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { ui } from "../state/ui.ts";
import { Button } from "../ui/controls.tsx";

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
  const open = calibration.state === "waiting" || calibration.state === "ready";
  useEffect(() => {
    const draw = (): void => void (canvas.current && drawSphere(canvas.current, latest.current, attitude.current));
    draw();
    const watch = new ResizeObserver(draw);
    watch.observe(canvas.current!);
    return () => watch.disconnect();
  }, [calibration, theme]);
  const timer = useRef(0);
  const send = (): void => {
    drawSphere(canvas.current!, latest.current, attitude.current);
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
        aria-label={`Directions of the field, ${Math.round(100 * calibration.coverage)} % covered. Drag or use the arrow keys to turn the sensor.`}
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
        <Button className="small" onClick={() => setTurning(!turning)} missing={open ? undefined : "Start again to turn the sensor"}>{turning ? "Stop turning" : "Turn for me"}</Button>
        <span className="xs dim3">Drag the sphere, or use the arrow keys</span>
      </div>
    </div>
  );
}

function drawSphere(canvas: HTMLCanvasElement, calibration: Calibration, attitude: Quaternion): void {
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
  const project = (p: Vector3): [number, number, number] => {
    const q = p.clone().applyMatrix4(view);
    return [cx + q.x * r, cy - q.y * r, q.z];
  };
  c.fillStyle = token("plot");
  c.beginPath();
  c.arc(cx, cy, r, 0, 7);
  c.fill();
  const cells = [...calibration.missing.map((d) => ({ d, seen: false })), ...calibration.covered.map((d) => ({ d, seen: true }))];
  const size = cells.length ? Math.sqrt((4 * Math.PI) / cells.length) * 0.46 : 0.2;
  const drawn = cells.map(({ d, seen }) => {
    const n = new Vector3(d[0], d[1], d[2]).normalize();
    const side = new Vector3(0, 0, 1).cross(n);
    const a = (side.lengthSq() < 1e-6 ? new Vector3(1, 0, 0) : side).normalize();
    const b = n.clone().cross(a);
    const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]].map(([u, v]) => project(n.clone().addScaledVector(a, u! * size).addScaledVector(b, v! * size).normalize()));
    return { corners, depth: project(n)[2], seen };
  });
  drawn.sort((p, q) => p.depth - q.depth);
  for (const { corners, depth, seen } of drawn) {
    c.beginPath();
    corners.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
    c.closePath();
    c.globalAlpha = depth > 0 ? 0.42 : 0.13;
    if (seen) {
      c.fillStyle = token("ok");
      c.fill();
    }
    c.globalAlpha = depth > 0 ? 0.7 : 0.18;
    c.strokeStyle = seen ? token("ok") : token("line-2");
    c.lineWidth = 1;
    c.setLineDash(seen ? [] : [3, 3]);
    c.stroke();
    c.setLineDash([]);
  }
  c.globalAlpha = 1;
  points(c, calibration.points, project);
  c.strokeStyle = token("line-2");
  c.lineWidth = 1;
  c.beginPath();
  c.arc(cx, cy, r, 0, 7);
  c.stroke();
}

function points(c: CanvasRenderingContext2D, list: readonly number[][], project: (p: Vector3) => [number, number, number]): void {
  if (list.length === 0) return;
  const low = [0, 1, 2].map((k) => Math.min(...list.map((p) => p[k]!)));
  const high = [0, 1, 2].map((k) => Math.max(...list.map((p) => p[k]!)));
  const middle = low.map((v, k) => (v + high[k]!) / 2);
  list.forEach((p, i) => {
    const d = new Vector3(p[0]! - middle[0]!, p[1]! - middle[1]!, p[2]! - middle[2]!);
    if (d.lengthSq() < 1e-12) return;
    const [x, y, z] = project(d.normalize());
    c.globalAlpha = z > 0 ? 0.95 : 0.25;
    c.fillStyle = token("truth");
    c.fillRect(x - 1, y - 1, 2, 2);
    if (i !== list.length - 1) return;
    c.globalAlpha = 1;
    c.fillStyle = token("accent-fill");
    c.strokeStyle = token("on-accent");
    c.lineWidth = 1.5;
    c.beginPath();
    c.arc(x, y, 6, 0, 7);
    c.fill();
    c.stroke();
    c.font = `600 ${11}px ${token("font-ui")}`;
    c.fillStyle = token("text-1");
    c.fillText("now", x + 10, y + 4);
  });
  c.globalAlpha = 1;
}
