// The path from above: east to the right, north up, with start and end.
import { rem, token } from "../scene/colours.ts";
import { fixed } from "../state/format.ts";

export function drawPath(canvas: HTMLCanvasElement, truth: readonly number[][], estimate: readonly number[][] | null): void {
  const ratio = Math.min(2, devicePixelRatio);
  const [w, h] = [canvas.clientWidth, canvas.clientHeight];
  if (!w || !h) return;
  canvas.width = Math.round(w * ratio);
  canvas.height = Math.round(h * ratio);
  const c = canvas.getContext("2d");
  if (!c) return;
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  const f = rem() / 16;
  const all = [...truth, ...(estimate ?? [])];
  const xs = all.map((p) => p[0]!);
  const ys = all.map((p) => p[1]!);
  const [x0, x1, y0, y1] = [Math.min(0, ...xs), Math.max(0, ...xs), Math.min(0, ...ys), Math.max(0, ...ys)];
  const [left, right, top, bottom] = [34 * f, 10 * f, 26 * f, 24 * f];
  const size = Math.max(1, x1 - x0, ((y1 - y0) * (w - left - right)) / (h - top - bottom)) * 1.15;
  const k = (w - left - right) / size;
  const X = (x: number): number => left + (w - left - right) / 2 + (x - (x0 + x1) / 2) * k;
  const Y = (y: number): number => top + (h - top - bottom) / 2 - (y - (y0 + y1) / 2) * k;
  const step = [0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200].find((s) => s * k > 46 * f) ?? 500;
  c.font = `${11 * f}px ${token("font-ui")}`;
  c.textBaseline = "middle";
  c.lineWidth = 1;
  const decimals = step < 1 ? 1 : 0;
  for (let v = Math.ceil(((x0 + x1) / 2 - size / 2) / step) * step; X(v) < w - right; v += step) {
    c.strokeStyle = token("grid");
    line(c, X(v), top - 8, X(v), h - bottom);
    c.fillStyle = token("text-3");
    c.textAlign = "center";
    c.fillText(fixed(v, decimals), X(v), h - 11 * f);
  }
  for (let n = -60; n <= 60; n++) {
    const v = Math.round((y0 + y1) / 2 / step) * step + n * step;
    if (Y(v) < top - 4 || Y(v) > h - bottom) continue;
    c.strokeStyle = token("grid");
    line(c, left, Y(v), w - right, Y(v));
    c.fillStyle = token("text-3");
    c.textAlign = "right";
    c.fillText(fixed(v, decimals), left - 6 * f, Y(v));
  }
  const draw = (points: readonly number[][], colour: string, width: number): void => {
    c.strokeStyle = token(colour);
    c.lineWidth = width;
    c.beginPath();
    points.forEach((p, i) => (i ? c.lineTo(X(p[0]!), Y(p[1]!)) : c.moveTo(X(p[0]!), Y(p[1]!))));
    c.stroke();
  };
  if (estimate) draw(estimate, "estimate", 2.4);
  draw(truth, "truth", 1.2);
  const word = (text: string, x: number, y: number, colour = "text-1"): void => {
    c.font = `600 ${11 * f}px ${token("font-ui")}`;
    c.textAlign = "left";
    c.lineWidth = 3;
    c.strokeStyle = token("plot");
    c.strokeText(text, x, y);
    c.fillStyle = token(colour);
    c.fillText(text, x, y);
  };
  const [first, final] = [truth[0], truth.at(-1)];
  c.fillStyle = token("text-1");
  if (first) c.fillRect(X(first[0]!) - 4, Y(first[1]!) - 4, 8, 8);
  if (final) {
    c.beginPath();
    c.arc(X(final[0]!), Y(final[1]!), 5, 0, 7);
    c.fill();
  }
  if (first) word("start", X(first[0]!) + 9, Y(first[1]!) + 13 * f);
  if (final) word("end", X(final[0]!) + 9, Y(final[1]!) - 10 * f);
  word("truth", left + 4, 10 * f);
  if (estimate) word("estimate", left + 40 * f, 10 * f, "estimate");
}

function line(c: CanvasRenderingContext2D, a: number, b: number, x: number, y: number): void {
  c.beginPath();
  c.moveTo(a, b);
  c.lineTo(x, y);
  c.stroke();
}
