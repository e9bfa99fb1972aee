import assert from "node:assert/strict";
import { test } from "node:test";
import { border, cellsOf, evenly, nearestMissing } from "../src/calibrate/cells.ts";
import { kindOf, mainFile } from "../src/chooser/files.ts";
import { bins } from "../src/fly/traces.ts";
import { verdict } from "../src/report/verdict.ts";
import { isBare, withBalls } from "../src/scene/skeleton.ts";

test("bins have the lowest, highest and mean value and stay in place while time goes on", () => {
  const times = [0.0, 0.04, 0.11, 0.15, 0.31];
  const values = [1, 3, -2, NaN, 5];
  const found = bins(times, values, [0, 5], 0.1);
  assert.deepEqual(found.map(({ low, high, mean }) => [low, high, mean]), [[1, 3, 2], [-2, -2, -2], [5, 5, 5]]);
  const later = bins(times, values, [2, 5], 0.1);
  assert.equal(later[0]!.t, found[1]!.t);
});

test("cells of a sphere cover it once: their areas add up to the sphere", () => {
  const middles = evenly(64);
  const cells = cellsOf(middles.slice(0, 20), middles.slice(20));
  const area = cells.reduce((sum, { around: [a, b], z: [low, high] }) => sum + (b - a) * (high - low), 0);
  assert.ok(Math.abs(area - 4 * Math.PI) < 1e-9);
  assert.equal(cells.filter((cell) => cell.seen).length, 20);
  for (const p of border(cells[0]!)) assert.ok(Math.abs(Math.hypot(...p) - 1) < 1e-9);
});

test("the way leads to the nearest cell that was not seen", () => {
  const cells = cellsOf([[0, 0, 0.9]], [[1, 0, 0], [-1, 0, 0]]);
  assert.deepEqual(nearestMissing(cells, [-0.9, 0.1, 0])!.middle, [-1, 0, 0]);
  assert.equal(nearestMissing(cells.map((cell) => ({ ...cell, seen: true })), [1, 0, 0]), null);
});

test("of several files the robot is opened, and a mesh never", () => {
  assert.equal(mainFile(["wheel.stl", "arm.URDF", "base.obj"]), "arm.URDF");
  assert.equal(mainFile(["flight.parquet"]), "flight.parquet");
  assert.equal(mainFile(["wheel.stl"]), undefined);
  assert.deepEqual(["a.toml", "a.xml", "a.csv.gz"].map(kindOf), ["scenario", "robot", "recording"]);
});

test("a parameter agrees within its standard deviation, differs beyond it, and is edited far from the sheet", () => {
  const row = { name: "", unit: "", note: "", value: 1.05, sigma: 0.02, truth: 1, sheet: 1, sheet_estimated: false };
  assert.equal(verdict(row)[1], "agrees");
  assert.equal(verdict({ ...row, value: 1.2 })[1], "differs");
  assert.equal(verdict({ ...row, value: 3, truth: 3 })[1], "edited");
  assert.equal(verdict({ ...row, value: null, sigma: null, sheet: null })[1], "no figure");
});

test("a robot without shapes gets a ball at every joint", () => {
  const body = (name: string, parent: number | null) => ({ name, parent, geoms: [] });
  const bodies = [body("world", null), body("upper", 0), body("lower", 1)];
  assert.ok(isBare(bodies));
  assert.deepEqual(withBalls(bodies).map((b) => b.geoms.length), [0, 1, 1]);
  assert.ok(!isBare(withBalls(bodies)));
});
