import assert from "node:assert/strict";
import { test } from "node:test";
import { decimalsOfStep, fixed, forField, fromField, nudged, short, unitText, withUnit } from "../src/state/format.ts";

test("a negative number has a real minus sign, and zero has none", () => {
  assert.equal(fixed(-1.25, 1), "−1.3");
  assert.equal(fixed(-0.001, 2), "0.00");
  assert.equal(fixed(NaN, 2), "–");
});

test("thousands are separated from five digits on", () => {
  assert.equal(fixed(1234, 0), "1234");
  assert.equal(fixed(51890.4, 1), "51 890.4");
});

test("about three digits are shown", () => {
  assert.equal(short(9.80665), "9.81");
  assert.equal(short(0.0123), "0.0123");
  assert.equal(short(1.2e-7), "1.20 · 10⁻⁷");
});

test("a field can be read back", () => {
  for (const value of [0.2923, -14, 0, 1e-6]) assert.equal(fromField(forField(value)), value);
  assert.equal(fromField("−0,5"), -0.5);
  assert.ok(Number.isNaN(fromField("abc")));
  assert.ok(Number.isNaN(fromField("  ")));
});

test("the arrow keys change the last digit", () => {
  assert.equal(nudged("0.030", 1), "0.031");
  assert.equal(nudged("−1", -1), "−2");
  assert.equal(nudged("none", 1), "none");
});

test("units are written with signs", () => {
  assert.equal(unitText("m/s2"), "m/s²");
  assert.equal(unitText("uT"), "µT");
  assert.equal(unitText("1"), "");
  assert.equal(withUnit("0.8", "°"), "0.8°");
  assert.equal(withUnit("9.81", "m/s²"), "9.81 m/s²");
});

test("small numbers in a field have an exponent, which can be read back", () => {
  assert.equal(forField(0.0000161812), "1.618e−5");
  assert.equal(fromField(forField(-0.0000161812)), -1.618e-5);
  assert.equal(forField(0.00277), "0.00277");
});

test("marks of an axis are shown as they are", () => {
  for (const step of [5, 2.5, 2, 1, 0.5, 0.25, 0.2, 0.025, 0.0005]) {
    const marks = [0, 1, 2, 3, 4, 5].map((i) => i * step);
    assert.deepEqual(marks.map((v) => Number(fixed(v, decimalsOfStep(step)))), marks.map((v) => Number(v.toPrecision(9))));
  }
  assert.equal(decimalsOfStep(5), 0);
  assert.equal(decimalsOfStep(0.25), 2);
});
