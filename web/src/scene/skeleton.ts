// A robot file without shapes: its joints as balls, its links as rods between them.
import { CylinderGeometry, Group, Mesh, MeshLambertMaterial, Quaternion, Vector3 } from "three";
import type { Body, Geom } from "../messages.ts";

const BALL = 0.035; // m
const ROD = 0.012;
const GREY = [0.6, 0.64, 0.68, 1];
const UP = new Vector3(0, 1, 0);

/** Whether no body but the world has a shape. */
export function isBare(bodies: readonly Body[]): boolean {
  return bodies.length > 1 && bodies.slice(1).every((body) => body.geoms.length === 0);
}

const ball = (): Geom => ({ name: "", type: "sphere", size: [BALL], pos: [0, 0, 0], quat: [1, 0, 0, 0], rgba: GREY, vertices: null, faces: null, heights: null });

/** The bodies with a ball at each joint. */
export function withBalls(bodies: readonly Body[]): Body[] {
  return bodies.map((body, i) => (i === 0 ? body : { ...body, geoms: [ball()] }));
}

/** Rods from each body to its parent. */
export class Rods {
  readonly root = new Group();
  private readonly ends: [number, number][];

  constructor(bodies: readonly Body[]) {
    this.ends = bodies.flatMap((body, i): [number, number][] => (i > 0 && body.parent !== null ? [[body.parent, i]] : []));
    const material = new MeshLambertMaterial({ color: 0x8a94a0 });
    for (const _ of this.ends) this.root.add(new Mesh(new CylinderGeometry(ROD, ROD, 1, 10).translate(0, 0.5, 0), material));
  }

  pose(poses: Float32Array): void {
    const at = (body: number): Vector3 => new Vector3(poses[7 * body], poses[7 * body + 1], poses[7 * body + 2]);
    this.ends.forEach(([a, b], i) => {
      const rod = this.root.children[i]!;
      const along = at(b).sub(at(a));
      const length = along.length();
      rod.visible = length > 1e-6;
      if (!rod.visible) return;
      rod.position.copy(at(a));
      rod.quaternion.copy(new Quaternion().setFromUnitVectors(UP, along.divideScalar(length)));
      rod.scale.set(1, length, 1);
    });
  }
}
