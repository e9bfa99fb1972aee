// Simple shapes of the vehicles of the package, for their pictures. The scene itself draws what the server describes.
import { MODULE_SHAPE, type Body, type Geom } from "../messages.ts";
import type { Portrait } from "../scene/portrait.ts";

type Rgba = readonly [number, number, number, number?];
const DARK: Rgba = [0.16, 0.18, 0.22];
const GREY: Rgba = [0.62, 0.66, 0.7];
const ORANGE: Rgba = [0.86, 0.4, 0.16];

const geom = (type: string, size: number[], pos: number[], rgba: Rgba, quat = [1, 0, 0, 0]): Geom => ({
  name: "", type, size, pos, quat, rgba: [rgba[0], rgba[1], rgba[2], rgba[3] ?? 1], vertices: null, faces: null, heights: null,
});

/** A capsule or cylinder between two points. */
function between(type: "capsule" | "cylinder", radius: number, a: readonly number[], b: readonly number[], rgba: Rgba): Geom {
  const d = a.map((v, i) => b[i]! - v);
  const length = Math.hypot(...d);
  const [x, y, z] = d.map((v) => v / length) as [number, number, number];
  const w = 1 + z;
  const raw = w > 1e-6 ? [w, -y, x, 0] : [0, 1, 0, 0];
  const size = Math.hypot(...raw);
  return geom(type, [radius, length / 2], a.map((v, i) => (v + b[i]!) / 2), rgba, raw.map((v) => v / size));
}

const turn = (axis: "x" | "y" | "z", deg: number): number[] => {
  const half = (deg * Math.PI) / 360;
  return [Math.cos(half), ...["x", "y", "z"].map((a) => (a === axis ? Math.sin(half) : 0))];
};

function quadcopter(): Geom[] {
  const list = [
    geom("ellipsoid", [0.06, 0.045, 0.026], [0, 0, 0], [0.55, 0.58, 0.62]),
    geom("box", [0.042, 0.02, 0.011], [0, 0, -0.032], DARK),
    geom("cylinder", [0.038, 0.004], [0, 0, 0.022], [0.7, 0.72, 0.75]),
    geom("box", [0.012, 0.011, 0.005], [0.058, 0, 0.006], ORANGE),
    between("capsule", 0.007, [-0.17, 0, -0.012], [0.17, 0, -0.012], GREY),
    between("capsule", 0.007, [0, -0.17, -0.012], [0, 0.17, -0.012], GREY),
  ];
  for (const [x, y] of [[0.17, 0], [0, 0.17], [-0.17, 0], [0, -0.17]] as const) {
    list.push(geom("cylinder", [0.016, 0.014], [x, y, -0.004], x > 0 ? ORANGE : DARK));
    list.push(geom("cylinder", [0.1, 0.0015], [x, y, 0.014], x > 0 ? [0.95, 0.55, 0.35, 0.3] : [0.62, 0.7, 0.8, 0.3]));
    list.push(geom("box", [0.095, 0.007, 0.0012], [x, y, 0.016], GREY, turn("z", 35 + 70 * x)));
  }
  for (const side of [-1, 1]) {
    list.push(between("capsule", 0.004, [-0.09, 0.08 * side, -0.09], [0.09, 0.08 * side, -0.09], GREY));
    for (const x of [-1, 1]) list.push(between("capsule", 0.004, [0.03 * x, 0.025 * side, -0.02], [0.05 * x, 0.08 * side, -0.09], GREY));
  }
  return list;
}

function helicopter(): Geom[] {
  const list = [
    geom("box", [0.068, 0.078, 0.098], [0, 0, 0], [0.8, 0.76, 0.68]),
    geom("box", [0.0695, 0.0795, 0.012], [0, 0, 0.075], [0.72, 0.6, 0.36]),
    geom("cylinder", [0.012, 0.16], [0, 0, 0.25], GREY),
    geom("box", [0.2125, 0.0825, 0.004], [0, 0, 0.414], [0.16, 0.22, 0.42]),
    geom("cylinder", [0.605, 0.002], [0, 0, 0.2], [0.8, 0.84, 0.9, 0.14]),
    geom("cylinder", [0.605, 0.002], [0, 0, 0.3], [0.8, 0.84, 0.9, 0.14]),
    geom("box", [0.29, 0.03, 0.003], [0.29, 0.1, 0.2], DARK, turn("z", 20)),
    geom("box", [0.29, 0.03, 0.003], [-0.29, -0.1, 0.2], DARK, turn("z", 20)),
    geom("box", [0.29, 0.03, 0.003], [0.18, -0.24, 0.3], DARK, turn("z", -53)),
    geom("box", [0.29, 0.03, 0.003], [-0.18, 0.24, 0.3], DARK, turn("z", -53)),
  ];
  for (const x of [-1, 1]) for (const y of [-1, 1]) list.push(between("capsule", 0.008, [0.05 * x, 0.06 * y, 0.02], [0.22 * x, 0.22 * y, -0.27], [0.62, 0.5, 0.34]));
  return list;
}

function rover(): Geom[] {
  const list = [
    geom("box", [0.12, 0.08, 0.015], [-0.02, 0, 0.03], ORANGE),
    geom("box", [0.07, 0.05, 0.02], [-0.03, 0, 0.062], [0.55, 0.58, 0.62]),
    geom("box", [0.018, 0.014, 0.006], [0.05, 0, 0.052], [0.3, 0.38, 0.9]),
    geom("box", [0.006, 0.03, 0.008], [0.103, 0, 0.035], [0.95, 0.95, 0.92]),
    geom("sphere", [0.02], [-0.11, 0, -0.03], GREY),
  ];
  for (const y of [-0.1, 0.1]) {
    list.push(geom("cylinder", [0.05, 0.015], [0, y, 0], DARK, turn("x", 90)));
    list.push(geom("cylinder", [0.022, 0.018], [0, y, 0], [0.75, 0.77, 0.8], turn("x", 90)));
  }
  return list;
}

function manipulator(): Geom[] {
  const [shoulder, elbow, wrist] = [[0, 0, 0.2], [0, -0.2, 0.54], [0, 0.16, 0.7]] as const;
  return [
    geom("cylinder", [0.16, 0.03], [0, 0, 0.03], [0.5, 0.53, 0.57]),
    geom("cylinder", [0.09, 0.07], [0, 0, 0.12], [0.7, 0.72, 0.75]),
    geom("cylinder", [0.05, 0.06], [...shoulder], DARK, turn("y", 90)),
    between("capsule", 0.036, shoulder, elbow, ORANGE),
    geom("cylinder", [0.045, 0.05], [...elbow], DARK, turn("y", 90)),
    between("capsule", 0.03, elbow, wrist, [0.7, 0.72, 0.75]),
    geom("sphere", [0.034], [...wrist], DARK),
    geom("box", [0.028, 0.022, 0.03], [0.034, -0.1, 0.37], [0.3, 0.38, 0.9]),
    geom("box", [0.024, 0.03, 0.022], [0.03, -0.02, 0.62], [0.3, 0.38, 0.9]),
  ];
}

const bodies = (geoms: Geom[]): Body[] => [{ name: "world", parent: null, geoms: [] }, { name: "frame", parent: 0, geoms }];
const at = (z: number, q: readonly number[] = [1, 0, 0, 0]): Float32Array => new Float32Array([0, 0, 0, 1, 0, 0, 0, 0, 0, z, ...q]);

/** Pictures by the name of the vehicle. */
export const PORTRAITS: Record<string, () => Portrait> = {
  quadcopter: () => ({ bodies: bodies(quadcopter()), poses: at(0.42, [0.988, 0.06, 0.11, 0.09]), main: 1, azimuth: -2.5, elevation: 0.3, distance: 3.3, ground: "earth", gravity: false, aim: [0, 0, 0.3] }),
  mars_helicopter: () => ({ bodies: bodies(helicopter()), poses: at(0.42, [0.995, 0.03, 0.05, 0.1]), main: 1, azimuth: -2.2, elevation: 0.24, distance: 2.9, ground: "mars", gravity: false, aim: [0, 0, 0.48] }),
  rover: () => ({ bodies: bodies(rover()), poses: at(0.05), main: 1, azimuth: -0.85, elevation: 0.26, distance: 3.7, ground: "earth", gravity: false, aim: [0, 0, 0.07] }),
  module: () => ({ bodies: bodies([...MODULE_SHAPE]), poses: at(0.12, [0.972, 0.13, 0.17, 0.1]), main: 1, azimuth: -0.75, elevation: 0.5, distance: 2.5, ground: null, gravity: false }),
  manipulator: () => ({ bodies: bodies(manipulator()), poses: at(0), main: 1, azimuth: 0.45, elevation: 0.22, distance: 2.7, ground: "earth", gravity: false, aim: [0, 0, 0.36] }),
};
