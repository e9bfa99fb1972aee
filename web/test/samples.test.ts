import assert from "node:assert/strict";
import { test } from "node:test";
import type { Signal } from "../src/messages.ts";
import { Poses } from "../src/state/poses.ts";
import { Samples } from "../src/state/samples.ts";

const signal = (name: string, size: number): Signal => ({ name, title: name, group: "", role: "signal", unit: "1", frame: null, shape: [], size, labels: [], block: null, output: null });
const order = [signal("a", 1), signal("v", 2)];

/** Rows with a = t and v = (10 t, 20 t). */
function rows(times: number[]): [Float64Array, Float32Array] {
  return [new Float64Array(times), new Float32Array([...times, ...times.flatMap((t) => [10 * t, 20 * t])])];
}

function filled(capacity: number, times: number[]): Samples {
  const samples = new Samples(capacity);
  samples.carry(order);
  const [t, flat] = rows(times);
  samples.append(t, order, flat);
  return samples;
}

test("numbers of a vector go to their columns", () => {
  const samples = filled(100, [1, 2, 3]);
  assert.equal(samples.valueAt("a", 0, 2.5), 2);
  assert.equal(samples.valueAt("v", 1, 3), 60);
  assert.ok(Number.isNaN(samples.valueAt("a", 0, 0.5)));
});

test("the oldest rows are dropped and memory does not grow", () => {
  const samples = filled(40, [0]);
  const kept = samples.times.length;
  for (let i = 1; i < 1000; i++) {
    const [t, flat] = rows([i]);
    samples.append(t, order, flat);
  }
  assert.equal(samples.times.length, kept);
  assert.ok(samples.rows >= 40 && samples.rows <= kept);
  assert.equal(samples.last, 999);
  assert.equal(samples.valueAt("v", 0, 990), 9900);
});

test("a time that goes back drops what was later", () => {
  const samples = filled(100, [1, 2, 3, 4]);
  const [t, flat] = rows([2.5]);
  samples.append(t, order, flat);
  assert.deepEqual([...samples.times.subarray(0, samples.rows)], [1, 2, 2.5]);
});

test("history is put in front of newer rows", () => {
  const samples = filled(100, [5, 6]);
  const [t, flat] = rows([1, 2, 5]);
  samples.prepend(t, order, flat);
  assert.deepEqual([...samples.times.subarray(0, samples.rows)], [1, 2, 5, 6]);
  assert.equal(samples.valueAt("v", 1, 2), 40);
  assert.equal(samples.valueAt("a", 0, 6), 6);
});

test("a signal that is carried later has no past", () => {
  const samples = filled(100, [1, 2]);
  samples.carry([...order, signal("new", 1)]);
  assert.ok(Number.isNaN(samples.valueAt("new", 0, 2)));
  assert.equal(samples.valueAt("a", 0, 2), 2);
});

test("a slow sensor keeps its last value for a second", () => {
  const samples = new Samples(10);
  samples.carry([signal("a", 1)]);
  samples.append(new Float64Array([1, 1.5, 3]), [signal("a", 1)], new Float32Array([7, NaN, NaN]));
  assert.equal(samples.valueAt("a", 0, 1.5), 7);
  assert.ok(Number.isNaN(samples.valueAt("a", 0, 3)));
});

test("poses are found by time, and dropped after a rewind", () => {
  const poses = new Poses(1, 10);
  for (let t = 0; t < 40; t++) poses.append(t, new Float32Array([t, 0, 0, 1, 0, 0, 0]), null);
  assert.equal(poses.pose(poses.indexAt(35.5), 0)[0], 35);
  assert.ok(poses.rows <= 13);
  poses.append(36.5, new Float32Array(7), null);
  assert.equal(poses.times[poses.rows - 1], 36.5);
  assert.equal(poses.times[poses.rows - 2], 36);
});

test("earlier poses are put in front of those that are here", () => {
  const poses = new Poses(1, 20);
  poses.append(5, new Float32Array([5, 0, 0, 1, 0, 0, 0]), new Float32Array(7));
  poses.prepend(new Float64Array([1, 2, 5]), new Float32Array([1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 9, 0, 0, 1, 0, 0, 0]));
  assert.deepEqual([...poses.times.subarray(0, poses.rows)], [1, 2, 5]);
  assert.equal(poses.pose(1, 0)[0], 2);
  assert.equal(poses.pose(2, 0)[0], 5);
  assert.ok(Number.isNaN(poses.estimate(0)[0]!) && !Number.isNaN(poses.estimate(2)[0]!));
});
