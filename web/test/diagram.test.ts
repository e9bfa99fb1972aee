import assert from "node:assert/strict";
import { test } from "node:test";
import type { Kind } from "../src/messages.ts";
import { addBlock, arranged, connect, disconnect, freeName, moveBlocks, removeBlocks, rename, replaceKind, sheetAt, withSheet, type Diagram } from "../src/diagram/model.ts";
import { pathOf, routes } from "../src/diagram/routing.ts";

const diagram: Diagram = {
  version: 1,
  block: [{ name: "a", kind: "x", at: [0, 0] }, { name: "b.c", kind: "y" }, { name: "sub", diagram: "inner" }],
  wire: [{ from: "a.out", to: "b.c.in" }, { from: "a.out", to: "sub.p" }],
  diagram: [{ name: "inner", block: [{ name: "deep", kind: "x" }], wire: [{ from: "p", to: "deep.in" }], input: [{ name: "p" }] }],
};
const port = (name: string): { name: string; unit: null; frame: null; shape: null; default: null } => ({ name, unit: null, frame: null, shape: null, default: null });

test("a change gives a new diagram and leaves the old one", () => {
  const before = JSON.stringify(diagram);
  const after = addBlock(diagram, [], { name: "new", kind: "x" });
  assert.equal(after.block?.length, 4);
  assert.equal(JSON.stringify(diagram), before);
});

test("a block is removed with its wires", () => {
  const after = removeBlocks(diagram, [], ["a"]);
  assert.deepEqual(after.wire, []);
  assert.equal(removeBlocks(diagram, [], ["sub"]).wire?.length, 1);
});

test("an input has one wire", () => {
  const after = connect(diagram, [], "sub.q", "b.c.in");
  assert.deepEqual(after.wire?.filter((w) => w.to === "b.c.in"), [{ from: "sub.q", to: "b.c.in" }]);
  assert.equal(disconnect(after, [], ["b.c.in"]).wire?.length, 1);
});

test("wires follow a new name", () => {
  const after = rename(diagram, [], "a", "z");
  assert.deepEqual(after.wire?.map((w) => w.from), ["z.out", "z.out"]);
});

test("sub-diagrams are found by their path and changed there", () => {
  assert.equal(sheetAt(diagram, ["sub"])?.block?.[0]?.name, "deep");
  assert.equal(sheetAt(diagram, ["gone"]), undefined);
  const after = withSheet(diagram, ["sub"], (s) => ({ ...s, title: "t" }));
  assert.equal(after.diagram?.[0]?.title, "t");
  assert.equal(after.title, undefined);
  assert.equal(freeName(sheetAt(diagram, ["sub"])!, "deep"), "deep 2");
});

test("another kind keeps the wires that fit", () => {
  const kind: Kind = { kind: "k", category: "", description: "", schema: {}, inputs: [port("in")], outputs: [port("other")] };
  const after = replaceKind(diagram, [], "a", kind);
  assert.equal(after.block?.[0]?.kind, "k");
  assert.deepEqual(after.wire, []);
});

test("blocks are moved by name, ports by their sign", () => {
  const after = moveBlocks(diagram, ["sub"], new Map([["deep", [5, 6]], ["> p", [1, 2]]]));
  assert.deepEqual(after.diagram?.[0]?.block?.[0]?.at, [5, 6]);
  assert.deepEqual(after.diagram?.[0]?.input?.[0]?.at, [1, 2]);
});

test("arranging puts a block right of its sources", () => {
  const places = arranged(diagram, () => 50);
  assert.ok(places.get("sub")![0] > places.get("a")![0]);
});

test("a loop does not keep arranging busy", () => {
  const loop: Diagram = { version: 1, block: [{ name: "a" }, { name: "b" }], wire: [{ from: "a.o", to: "b.i" }, { from: "b.o", to: "a.i" }] };
  assert.equal(arranged(loop, () => 50).size, 2);
});

test("a wire goes around a block that is in its way", () => {
  const boxes = [{ id: "s", x: 0, y: 0, w: 100, h: 60 }, { id: "m", x: 200, y: 0, w: 100, h: 60 }, { id: "t", x: 400, y: 0, w: 100, h: 60 }];
  const way = routes([{ id: "w", source: "s", target: "t", from: [100, 30], to: [400, 30], key: "k" }], boxes).get("w")!;
  for (let i = 0; i + 1 < way.length; i++) {
    const [a, b] = [way[i]!, way[i + 1]!];
    const level = a[1] === b[1];
    const inside = level && a[1] > 0 && a[1] < 60 && Math.min(a[0], b[0]) < 300 && Math.max(a[0], b[0]) > 200;
    assert.ok(!inside, `piece ${i} passes through the block`);
  }
});

test("wires of different signals do not lie on each other", () => {
  const boxes = [{ id: "s", x: 0, y: 0, w: 100, h: 100 }, { id: "t", x: 400, y: 200, w: 100, h: 100 }];
  const ends = [30, 50].map((y, i) => ({ id: `w${i}`, source: "s", target: "t", from: [100, y] as [number, number], to: [400, 200 + y] as [number, number], key: `k${i}` }));
  const ways = [...routes(ends, boxes).values()];
  assert.notEqual(ways[0]![1]![0], ways[1]![1]![0]);
});

test("a path begins and ends where the blocks are now", () => {
  const path = pathOf([[0, 0], [50, 0], [50, 40], [100, 40]], [0, 5], [100, 45]);
  assert.match(path, /^M0 5/);
  assert.match(path, /L100 45$/);
});
