// The vehicle in the scene: the true one solid, the estimate as a ghost, and a shadow on the ground.
import {
  Box3, BoxGeometry, BufferGeometry, Color, DoubleSide, EdgesGeometry, EqualStencilFunc, Float32BufferAttribute, Group, IncrementStencilOp, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial,
  MeshLambertMaterial, Object3D, Quaternion, Sphere, Vector3,
} from "three";
import type { Body } from "../messages.ts";
import { bodyShapes } from "./geometry.ts";
import { colour } from "./colours.ts";
import { isBare, Rods, withBalls } from "./skeleton.ts";

const ONE = new Vector3(1, 1, 1);
const FLAT = new Matrix4().makeScale(1, 1, 0).setPosition(0, 0, 0.006);
const GHOST = 0.16; // opacity of the estimate
const APART = 0.1; // rad, or radii of the vehicle: from there on the estimate has its full opacity
const SHADOW = { dark: 0.34, light: 0.16 };

/** The transformation of a pose: position, quaternion (w, x, y, z). */
export function poseMatrix(pose: ArrayLike<number>, into = new Matrix4()): Matrix4 {
  const position = new Vector3(pose[0], pose[1], pose[2]);
  return into.compose(position, new Quaternion(pose[4], pose[5], pose[6], pose[3]).normalize(), ONE);
}

/** A sensor on a body: position (m) and quaternion (w, x, y, z) in the frame of the body. */
export interface Mark {
  body: number;
  position: readonly number[];
  quaternion: readonly number[];
  bright: boolean;
}

interface Piece {
  body: number;
  solid: Object3D;
  ghost: Object3D;
  shadow: Object3D | null;
}

export class VehicleModel {
  readonly root = new Group();
  readonly ghosts = new Group();
  /** Radius of a sphere around the vehicle, m. */
  radius = 0.5;
  private pieces: Piece[] = [];
  private readonly middle = new Vector3();
  private readonly spheres: { body: number; sphere: Sphere }[] = []; // around each body, in its frame
  private readonly rods: Rods | null;
  private markers = new Group();
  private readonly ghost = new MeshBasicMaterial({ transparent: true, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 1.5, polygonOffsetUnits: 2 });
  private readonly outline = new LineBasicMaterial({ transparent: true, depthWrite: false });

  constructor(given: readonly Body[], private readonly main: number, dark: boolean) {
    const bare = isBare(given);
    const bodies = bare ? withBalls(given) : given;
    this.rods = bare ? new Rods(given) : null;
    if (this.rods) this.root.add(this.rods.root);
    const lift = (rgb: Color): Color => lifted(rgb, dark);
    const solid = new MeshLambertMaterial({ vertexColors: true, flatShading: true });
    const { ghost, outline } = this;
    ghost.color = outline.color = colour("estimate");
    // by the stencil every point of the ground is darkened once, however many parts cast a shadow on it
    const shade = new MeshBasicMaterial({
      color: 0x000000, transparent: true, opacity: dark ? SHADOW.dark : SHADOW.light, side: DoubleSide, depthWrite: false,
      stencilWrite: true, stencilFunc: EqualStencilFunc, stencilRef: 0, stencilZPass: IncrementStencilOp,
    });
    let radius = 0;
    bodies.forEach((body, i) => {
      const moving = i > 0;
      const geoms = body.geoms.filter((geom) => moving || (geom.type !== "plane" && geom.type !== "heights"));
      if (geoms.length === 0) return;
      const shapes = bodyShapes(geoms, lift);
      const group = new Group();
      if (shapes.solid) group.add(new Mesh(shapes.solid, solid));
      if (shapes.clear) {
        const clear = new MeshLambertMaterial({ vertexColors: true, transparent: true, opacity: shapes.alpha, side: DoubleSide, depthWrite: false });
        group.add(new Mesh(shapes.clear, clear));
      }
      const faint = new Group();
      let shadow: Object3D | null = null;
      if (shapes.all) {
        const edges: BufferGeometry = new EdgesGeometry(shapes.all, 35);
        faint.add(new Mesh(shapes.all, ghost), new LineSegments(edges, outline));
        const cast = new Mesh(shapes.solid ?? shapes.all, shade);
        shadow = cast;
        cast.matrixAutoUpdate = false;
        this.root.add(cast);
        shapes.all.computeBoundingSphere();
        const sphere = shapes.all.boundingSphere!;
        if (moving) {
          radius = Math.max(radius, sphere.radius + sphere.center.length());
          this.spheres.push({ body: i, sphere });
        }
      }
      for (const object of [group, faint]) object.matrixAutoUpdate = false;
      this.root.add(group);
      this.ghosts.add(faint);
      this.pieces.push({ body: i, solid: group, ghost: faint, shadow });
    });
    this.radius = Math.max(0.1, radius);
    this.root.add(this.markers);
  }

  /** Show sensors as small boxes where they are mounted; bright ones in front of all, with their axes. */
  mark(marks: readonly Mark[]): void {
    release(this.markers);
    this.markers.clear();
    const size = Math.max(0.012, 0.05 * this.radius);
    for (const { body, position, quaternion, bright } of marks) {
      const material = new MeshBasicMaterial({ color: colour(bright ? "accent" : "accent-fill"), transparent: true, opacity: bright ? 1 : 0.75, depthTest: !bright });
      const box = new Mesh(new BoxGeometry(size * 1.4, size, size * 0.5), material);
      const group = new Group().add(box);
      if (bright) {
        box.renderOrder = 7;
        group.add(axes(6 * size));
      }
      group.userData = { body, local: poseMatrix([...position, ...quaternion]) };
      group.matrixAutoUpdate = false;
      this.markers.add(group);
    }
  }

  /** A sphere around all bodies in these poses. */
  around(poses: Float32Array): Sphere {
    const box = new Box3();
    for (const { body, sphere } of this.spheres) {
      const at = sphere.clone().applyMatrix4(poseMatrix(poses.subarray(7 * body, 7 * body + 7)));
      box.union(at.getBoundingBox(new Box3()));
    }
    return box.isEmpty() ? new Sphere(new Vector3(), this.radius) : new Sphere(box.getCenter(new Vector3()), 0.5 * Math.max(...box.getSize(new Vector3()).toArray()));
  }

  /** Put all bodies to their poses; estimate: pose of the main body, or null. */
  pose(poses: Float32Array, estimate: Float32Array | null): void {
    const main = poseMatrix(poses.subarray(7 * this.main, 7 * this.main + 7));
    this.middle.setFromMatrixPosition(main);
    const toGhost = estimate ? poseMatrix(estimate).multiply(main.clone().invert()) : null;
    this.ghosts.visible = toGhost !== null;
    if (toGhost) this.fade(toGhost);
    for (const { body, solid, ghost, shadow } of this.pieces) {
      poseMatrix(poses.subarray(7 * body, 7 * body + 7), solid.matrix);
      solid.matrixWorldNeedsUpdate = true;
      if (shadow) {
        shadow.matrix.multiplyMatrices(FLAT, solid.matrix);
        shadow.matrixWorldNeedsUpdate = true;
      }
      if (toGhost) {
        ghost.matrix.multiplyMatrices(toGhost, solid.matrix);
        ghost.matrixWorldNeedsUpdate = true;
      }
    }
    this.rods?.pose(poses);
    for (const marker of this.markers.children) {
      const { body, local } = marker.userData as { body: number; local: Matrix4 };
      poseMatrix(poses.subarray(7 * body, 7 * body + 7), marker.matrix).multiply(local);
      marker.matrixWorldNeedsUpdate = true;
    }
  }

  /** A ghost that lies on the vehicle is an outline; its surfaces appear as it departs. */
  private fade(between: Matrix4): void {
    const [position, turn, scale] = [new Vector3(), new Quaternion(), new Vector3()];
    between.decompose(position, turn, scale);
    // where the middle of the vehicle goes, in radii, and by how much it turns
    const apart = 2 * Math.acos(Math.min(1, Math.abs(turn.w))) + this.middle.clone().applyMatrix4(between).distanceTo(this.middle) / this.radius;
    const share = Math.min(1, apart / APART);
    this.ghost.opacity = GHOST * share;
    this.ghost.visible = this.ghost.opacity > 1 / 255; // less is not seen, and drawing it takes as long
    this.outline.opacity = 0.3 + 0.3 * share;
  }

  dispose(): void {
    release(this.root);
    release(this.ghosts);
  }
}

function release(group: Group): void {
  group.traverse((object) => {
    if (object instanceof Mesh || object instanceof LineSegments) {
      (object.geometry as BufferGeometry).dispose();
      (Array.isArray(object.material) ? object.material : [object.material]).forEach((m: { dispose(): void }) => m.dispose());
    }
  });
}

/** Three short lines along x, y and z. */
function axes(length: number): LineSegments {
  const points = [length, 0, 0, 0, length, 0, 0, 0, length];
  const positions = [0, 3, 6].flatMap((i) => [0, 0, 0, ...points.slice(i, i + 3)]);
  const colours = ["x", "y", "z"].flatMap((name) => [...colour(name).toArray(), ...colour(name).toArray()]);
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new Float32BufferAttribute(positions, 3));
  geometry.setAttribute("color", new Float32BufferAttribute(colours, 3));
  const lines = new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
  lines.renderOrder = 7;
  return lines;
}

/** Dark parts are made lighter on a dark ground, so that their form can be seen. */
function lifted(rgb: Color, dark: boolean): Color {
  const hsl = { h: 0, s: 0, l: 0 };
  rgb.getHSL(hsl, "srgb");
  const l = dark ? 0.24 + 0.74 * hsl.l : 0.08 + 0.84 * hsl.l;
  return new Color().setHSL(hsl.h, hsl.s * (dark ? 0.85 : 1), l, "srgb");
}
