// Artificial horizon with a heading ring: truth filled, the estimate as a dashed line and a pointer.
import { rem, token } from "../scene/colours.ts";

export interface Angles {
  roll: number; // deg, right side down
  pitch: number; // deg, nose up
  heading: number; // deg, clockwise from north
}

const RAD = Math.PI / 180;
const SHOWN_DEG = 34; // from the middle to the rim

export function drawHorizon(canvas: HTMLCanvasElement, truth: Angles | null, estimate: Angles | null): void {
  const ratio = Math.min(2, devicePixelRatio);
  const size = canvas.clientWidth * ratio;
  if (size === 0) return;
  if (canvas.width !== Math.round(size)) canvas.width = canvas.height = Math.round(size);
  const c = canvas.getContext("2d");
  if (!c) return;
  const f = ratio * (rem() / 16);
  const r = canvas.width / 2;
  const inner = r * 0.7;
  const perDeg = inner / SHOWN_DEG;
  const light = token("truth");
  c.setTransform(1, 0, 0, 1, 0, 0);
  c.clearRect(0, 0, canvas.width, canvas.height);
  c.translate(r, r);
  const shown = truth ?? estimate;
  c.save();
  c.beginPath();
  c.arc(0, 0, inner, 0, 7);
  c.clip();
  if (shown) {
    c.rotate(-shown.roll * RAD);
    const y = shown.pitch * perDeg;
    c.fillStyle = token("horizon-sky");
    c.fillRect(-2 * r, -4 * r, 4 * r, 4 * r + y);
    c.fillStyle = token("horizon-ground");
    c.fillRect(-2 * r, y, 4 * r, 4 * r);
    c.strokeStyle = light;
    c.lineWidth = 1.5 * f;
    line(c, -r, y, r, y);
    c.lineWidth = f;
    for (let d = -60; d <= 60; d += 10) {
      const half = (d % 20 ? 6 : 12) * f;
      if (d !== 0) line(c, -half, y - d * perDeg, half, y - d * perDeg);
    }
  } else {
    c.fillStyle = token("bg-2");
    c.fillRect(-r, -r, 2 * r, 2 * r);
  }
  c.restore();
  if (estimate && truth) {
    c.save();
    c.beginPath();
    c.arc(0, 0, inner, 0, 7);
    c.clip();
    c.rotate(-estimate.roll * RAD);
    c.strokeStyle = token("estimate");
    c.lineWidth = 2 * f;
    c.setLineDash([6 * f, 3 * f]);
    line(c, -r, estimate.pitch * perDeg, r, estimate.pitch * perDeg);
    c.restore();
  }
  c.strokeStyle = token("line-2");
  c.lineWidth = f;
  c.beginPath();
  c.arc(0, 0, inner, 0, 7);
  c.stroke();
  wings(c, inner, f);
  if (shown) ring(c, r, f, shown.heading);
  if (estimate && shown) pointer(c, r, f, (estimate.heading - shown.heading) * RAD, token("estimate"), 6);
  if (truth) pointer(c, r, f, 0, light, 4);
}

function line(c: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  c.beginPath();
  c.moveTo(x0, y0);
  c.lineTo(x1, y1);
  c.stroke();
}

function wings(c: CanvasRenderingContext2D, inner: number, f: number): void {
  c.strokeStyle = token("warn");
  c.lineWidth = 2.5 * f;
  c.beginPath();
  for (const side of [-1, 1]) {
    c.moveTo(side * inner * 0.55, 0);
    c.lineTo(side * inner * 0.22, 0);
    c.lineTo(side * inner * 0.1, inner * 0.12);
  }
  c.stroke();
}

function ring(c: CanvasRenderingContext2D, r: number, f: number, heading: number): void {
  c.font = `600 ${10.5 * f}px ${token("font-ui")}`;
  c.textAlign = "center";
  c.textBaseline = "middle";
  for (let d = 0; d < 360; d += 10) {
    const a = (d - heading - 90) * RAD;
    const [x, y] = [Math.cos(a), Math.sin(a)];
    if (d % 90 === 0) {
      c.fillStyle = token("text-1");
      c.fillText("NESW"[d / 90]!, x * r * 0.87, y * r * 0.87);
      continue;
    }
    c.strokeStyle = token("text-3");
    c.lineWidth = f;
    const outer = d % 30 ? 0.84 : 0.9;
    line(c, x * r * 0.78, y * r * 0.78, x * r * outer, y * r * outer);
  }
}

function pointer(c: CanvasRenderingContext2D, r: number, f: number, turn: number, colour: string, half: number): void {
  c.save();
  c.rotate(turn);
  c.fillStyle = colour;
  c.beginPath();
  c.moveTo(0, -r * 0.72);
  c.lineTo(-half * f, -r * 0.54);
  c.lineTo(half * f, -r * 0.54);
  c.fill();
  c.restore();
}
