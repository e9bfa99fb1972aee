// Small drawings for the cards of the user's own files.
import { rem, token } from "../scene/colours.ts";
import { drawPortrait } from "../scene/portrait.ts";
import { PORTRAITS } from "./models.ts";

export type OwnPicture = "robot" | "recording" | "scenario";

export function drawOwn(canvas: HTMLCanvasElement, picture: OwnPicture): void {
  if (picture === "robot") {
    const portrait = PORTRAITS.manipulator!();
    drawPortrait(canvas, { ...portrait, ground: null, azimuth: -0.6, distance: 3.1, poses: portrait.poses });
    return;
  }
  const ratio = Math.min(2, devicePixelRatio);
  const [w, h] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = Math.round(w * ratio);
  canvas.height = Math.round(h * ratio);
  const c = canvas.getContext("2d");
  if (!c || !w) return;
  c.scale(ratio, ratio);
  if (picture === "recording") recording(c, w, h);
  else scenario(c, w, h);
}

/** Three lines with noise that is the same at every drawing. */
function recording(c: CanvasRenderingContext2D, w: number, h: number): void {
  let seed = 7;
  const random = (): number => ((seed = (seed * 16807) % 2147483647) / 2147483647) - 0.5;
  ["x", "y", "z"].forEach((axis, k) => {
    c.strokeStyle = token(axis);
    c.lineWidth = 1.5;
    c.beginPath();
    for (let x = 0; x <= w; x += 1.5) {
      const u = x / w;
      const rough = u > 0.35 ? 1 : 0.3;
      const y = h * (0.24 + 0.25 * k) - h * 0.1 * Math.sin(9 * u + 1.7 * k) * (1 - 0.3 * k) + h * 0.05 * rough * random();
      if (x) c.lineTo(x, y);
      else c.moveTo(x, y);
    }
    c.stroke();
  });
  c.strokeStyle = token("accent");
  c.beginPath();
  c.moveTo(w * 0.62, 0);
  c.lineTo(w * 0.62, h);
  c.stroke();
  c.fillStyle = token("accent-fill");
  c.beginPath();
  c.arc(w * 0.62, h - 9, 5, 0, 7);
  c.fill();
}

function scenario(c: CanvasRenderingContext2D, w: number, h: number): void {
  const f = rem() / 16;
  const x0 = w / 2 - 150 * f;
  const m = h / 2 - 12 * f;
  const at = (x: number): number => x0 + x * f;
  c.strokeStyle = token("text-3");
  c.lineWidth = 1.5;
  c.beginPath();
  for (const y of [-8, 32]) {
    c.moveTo(at(76), m + y * f);
    c.bezierCurveTo(at(104), m + y * f, at(90), m + 12 * f, at(118), m + 12 * f);
  }
  c.moveTo(at(190), m + 12 * f);
  c.lineTo(at(222), m + 12 * f);
  c.stroke();
  const box = (x: number, y: number, width: number, text: string, hue: string): void => {
    c.fillStyle = token("bg-2");
    c.strokeStyle = token("line-2");
    c.lineWidth = 1;
    c.beginPath();
    c.roundRect(at(x), m + y * f, width * f, 24 * f, 4);
    c.fill();
    c.stroke();
    c.fillStyle = token(hue);
    c.fillRect(at(x + 8), m + (y + 8) * f, 8 * f, 8 * f);
    c.fillStyle = token("text-2");
    c.font = `${11 * f}px ${token("font-ui")}`;
    c.textBaseline = "middle";
    c.fillText(text, at(x + 22), m + (y + 12.5) * f);
  };
  box(0, -20, 76, "Vehicle", "x");
  box(0, 20, 76, "Sensors", "z");
  box(118, 0, 72, "Filter", "estimate");
  box(222, 0, 78, "Motors", "y");
}
