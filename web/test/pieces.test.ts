import assert from "node:assert/strict";
import { test } from "node:test";
import { Vector3 } from "three";
import { straightPieces, type Point } from "../src/scene/pieces.ts";

const WIDE = 0.01;

function pieces(points: readonly (readonly number[] | null)[], most = 700): [Vector3, Vector3][] {
  const into = new Float32Array(6 * most);
  const point: Point = (i, p) => {
    const at = points[i];
    if (at) p.set(at[0]!, at[1]!, at[2]!);
    return Boolean(at);
  };
  const n = straightPieces(points.length, point, into, WIDE);
  return Array.from({ length: n }, (_, i) => [new Vector3().fromArray(into, 6 * i), new Vector3().fromArray(into, 6 * i + 3)]);
}

const off = (p: Vector3, [a, b]: [Vector3, Vector3]): number => {
  const along = b.clone().sub(a);
  const share = Math.min(1, Math.max(0, p.clone().sub(a).dot(along) / Math.max(1e-12, along.lengthSq())));
  return p.distanceTo(a.clone().addScaledVector(along, share));
};

test("a straight flight is one piece, and a rest is none", () => {
  const found = pieces([...Array(300).fill([0, 0, 1]), ...Array.from({ length: 300 }, (_, i) => [0.1 * i, 0, 1])]);
  assert.equal(found.length, 1);
  assert.ok(Math.abs(found[0]![1].x - 29.9) < 1e-4);
});

test("a curve has few pieces, joined, and is followed closely", () => {
  const circle = Array.from({ length: 600 }, (_, i) => [5 * Math.cos(i / 80), 5 * Math.sin(i / 80), 2]);
  const found = pieces(circle);
  assert.ok(found.length > 20 && found.length < 150, String(found.length));
  found.slice(1).forEach(([a], i) => assert.ok(a.equals(found[i]![1])));
  // the circle's points at most two widths off; single precision adds 1e-6
  for (const [x, y, z] of circle) assert.ok(Math.min(...found.map((piece) => off(new Vector3(x, y, z), piece))) < 2 * WIDE + 1e-5);
  assert.ok(found.at(-1)![1].distanceTo(new Vector3(...circle.at(-1)!)) < 1e-5); // it reaches the vehicle
});

test("a path that turns back and a gap are kept", () => {
  const there = Array.from({ length: 20 }, (_, i) => [i, 0, 0]);
  const found = pieces([...there, ...[...there].reverse().slice(1), null, [0, 5, 0], [0, 6, 0]]);
  assert.equal(found.length, 3);
  assert.ok(found[2]![0].equals(new Vector3(0, 5, 0)));
});

test("there are never more pieces than the array has space for", () => {
  const jagged = Array.from({ length: 100 }, (_, i) => [i, i % 2, 0]);
  assert.equal(pieces(jagged, 10).length, 10);
});
