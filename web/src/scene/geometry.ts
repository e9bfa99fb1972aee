// Shapes of a vehicle as the server describes them (MuJoCo's sizes: half lengths, radius first).
import { BoxGeometry, BufferAttribute, BufferGeometry, CapsuleGeometry, Color, CylinderGeometry, Matrix4, PlaneGeometry, Quaternion, SphereGeometry, Vector3 } from "three";
import { mergeGeometries } from "three/examples/jsm/utils/BufferGeometryUtils.js";
import type { Geom } from "../messages.ts";

const ROUND = 20; // segments around a cylinder

function shape(geom: Geom): BufferGeometry | null {
  const [a = 0, b = 0, c = 0] = geom.size;
  switch (geom.type) {
    case "box": return new BoxGeometry(2 * a, 2 * b, 2 * c);
    case "sphere": return new SphereGeometry(a, ROUND, ROUND / 2);
    case "ellipsoid": return new SphereGeometry(1, ROUND, ROUND / 2).scale(a, b, c);
    case "cylinder": return new CylinderGeometry(a, a, 2 * b, a > 4 * b ? 2 * ROUND : ROUND).rotateX(Math.PI / 2);
    case "capsule": return new CapsuleGeometry(a, 2 * b, 4, ROUND / 2).rotateX(Math.PI / 2);
    case "plane": return new PlaneGeometry(2 * (a || 5), 2 * (b || 5));
    case "mesh": return mesh(geom);
    case "heights": return heights(geom);
    default: return null;
  }
}

function mesh(geom: Geom): BufferGeometry | null {
  if (!geom.vertices || !geom.faces) return null;
  const made = new BufferGeometry();
  made.setAttribute("position", new BufferAttribute(new Float32Array(geom.vertices.flat()), 3));
  made.setIndex(geom.faces.flat());
  const flat = made.toNonIndexed();
  flat.computeVertexNormals();
  return flat;
}

function heights(geom: Geom): BufferGeometry | null {
  if (!geom.heights?.length) return null;
  const [x = 1, y = 1] = geom.size;
  const rows = geom.heights.length;
  const columns = geom.heights[0]!.length;
  const made = new PlaneGeometry(2 * x, 2 * y, columns - 1, rows - 1);
  const positions = made.getAttribute("position");
  for (let r = 0; r < rows; r++) {
    for (let k = 0; k < columns; k++) positions.setZ((rows - 1 - r) * columns + k, geom.heights[r]![k] ?? 0);
  }
  made.computeVertexNormals();
  return made;
}

/** A shape at its place on its body, with its colour at every vertex. */
function placed(geom: Geom, tint: (rgb: Color) => Color): BufferGeometry | null {
  const raw = shape(geom);
  if (!raw) return null;
  const made = raw.index ? raw.toNonIndexed() : raw;
  for (const name of Object.keys(made.attributes)) if (name !== "position" && name !== "normal") made.deleteAttribute(name);
  const [w = 1, x = 0, y = 0, z = 0] = geom.quat;
  const [px = 0, py = 0, pz = 0] = geom.pos;
  made.applyMatrix4(new Matrix4().compose(new Vector3(px, py, pz), new Quaternion(x, y, z, w), new Vector3(1, 1, 1)));
  const [r = 0.5, g = 0.5, b = 0.5] = geom.rgba;
  const rgb = tint(new Color().setRGB(r, g, b, "srgb"));
  const count = made.getAttribute("position").count;
  const colours = new Float32Array(3 * count);
  for (let i = 0; i < count; i++) colours.set([rgb.r, rgb.g, rgb.b], 3 * i);
  made.setAttribute("color", new BufferAttribute(colours, 3));
  return made;
}

export interface BodyShapes {
  solid: BufferGeometry | null;
  clear: BufferGeometry | null; // see-through parts, such as rotor discs
  alpha: number;
  all: BufferGeometry | null;
}

/** All shapes of a body in one piece each: opaque, see-through, both. */
export function bodyShapes(geoms: readonly Geom[], tint: (rgb: Color) => Color): BodyShapes {
  const opaque = geoms.filter((geom) => (geom.rgba[3] ?? 1) >= 0.99);
  const clear = geoms.filter((geom) => (geom.rgba[3] ?? 1) < 0.99);
  const together = (list: readonly Geom[]): BufferGeometry | null => {
    const parts = list.flatMap((geom) => placed(geom, tint) ?? []);
    return parts.length ? mergeGeometries(parts) : null;
  };
  return { solid: together(opaque), clear: together(clear), alpha: clear[0]?.rgba[3] ?? 1, all: together(geoms) };
}
