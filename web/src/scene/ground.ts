// Ground, grid and sky. The grid moves with the vehicle in steps of its strong lines, so that it never ends.
import { BackSide, BufferAttribute, BufferGeometry, CircleGeometry, Color, Group, LineBasicMaterial, LineSegments, Mesh, MeshBasicMaterial, SphereGeometry } from "three";
import { colour } from "./colours.ts";

const FAR = 900;
const PARTS = 14; // pieces of a grid line, each with its own strength

export interface Place {
  red: boolean; // Mars
}

export class Ground {
  readonly root = new Group();
  private readonly grid: Group;
  private readonly strong: number;

  constructor(fine: number, place: Place) {
    this.strong = 5 * fine;
    const tint = (name: string): Color => colour(place.red ? `mars-${name}` : name);
    const horizon = tint("sky-2");
    this.root.add(sky(tint("sky-1"), horizon), disc(tint("ground-2"), tint("ground-1"), horizon, fine));
    this.grid = new Group();
    const line = tint("gridline");
    this.grid.add(lines(fine, 24 * fine, line, 0.42, 5), lines(this.strong, 70 * fine, line, 0.75, 0));
    this.grid.position.z = 0.003;
    this.root.add(this.grid);
  }

  follow(x: number, y: number): void {
    const step = this.strong;
    this.grid.position.x = Math.round(x / step) * step;
    this.grid.position.y = Math.round(y / step) * step;
    this.root.children[0]!.position.set(x, y, 0);
    this.root.children[1]!.position.set(x, y, 0);
  }

  dispose(): void {
    this.root.traverse((object) => {
      if (object instanceof Mesh || object instanceof LineSegments) {
        (object.geometry as BufferGeometry).dispose();
        (object.material as { dispose(): void }).dispose();
      }
    });
  }
}

function sky(top: Color, horizon: Color): Mesh {
  const geometry = new SphereGeometry(FAR, 24, 24).rotateX(Math.PI / 2);
  const positions = geometry.getAttribute("position");
  const colours = new Float32Array(3 * positions.count);
  for (let i = 0; i < positions.count; i++) {
    const up = Math.max(0, positions.getZ(i) / FAR);
    const mixed = horizon.clone().lerp(top, Math.min(1, (up * 2.2) ** 0.8));
    colours.set([mixed.r, mixed.g, mixed.b], 3 * i);
  }
  geometry.setAttribute("color", new BufferAttribute(colours, 3));
  return new Mesh(geometry, new MeshBasicMaterial({ vertexColors: true, side: BackSide, depthWrite: false, fog: false }));
}

/** Radius of a ring (in fine lines of the grid); share of the far colour; share of the horizon in it. */
const RINGS = [[5, 0.15, 0], [12, 0.5, 0], [30, 1, 0.12], [80, 1, 0.4], [250, 1, 0.7], [FAR, 1, 0.92]] as const;

function disc(near: Color, far: Color, horizon: Color, fine: number): Mesh {
  const geometry = new BufferGeometry();
  const base = new CircleGeometry(1, 48).getAttribute("position");
  const around = base.count - 1;
  const points: number[] = [0, 0, 0];
  const colours: number[] = [near.r, near.g, near.b];
  const index: number[] = [];
  RINGS.forEach(([r, share, haze], ring) => {
    const radius = Math.min(FAR, r * fine);
    const mixed = near.clone().lerp(far, share).lerp(horizon, haze);
    for (let k = 0; k < around; k++) {
      points.push(base.getX(k + 1) * radius, base.getY(k + 1) * radius, 0);
      colours.push(mixed.r, mixed.g, mixed.b);
      const next = (k + 1) % around;
      const at = 1 + ring * around;
      if (ring === 0) index.push(0, at + k, at + next);
      else {
        const inner = at - around;
        index.push(inner + k, at + k, at + next, inner + k, at + next, inner + next);
      }
    }
  });
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
  geometry.setAttribute("color", new BufferAttribute(new Float32Array(colours), 3));
  geometry.setIndex(index);
  return new Mesh(geometry, new MeshBasicMaterial({ vertexColors: true }));
}

/** Lines of a grid that fade with the distance from its middle. skip: every so many lines is drawn by the strong grid. */
function lines(step: number, reach: number, rgb: Color, strength: number, skip: number): LineSegments {
  const points: number[] = [];
  const colours: number[] = [];
  const count = Math.round(reach / step);
  const alpha = (x: number, y: number): number => strength * Math.max(0, 1 - Math.hypot(x, y) / reach) ** 1.5;
  const piece = (2 * reach) / PARTS;
  for (let i = -count; i <= count; i++) {
    if (skip && i % skip === 0) continue;
    const c = i * step;
    for (let k = 0; k < PARTS; k++) {
      const a = -reach + k * piece;
      const b = a + piece;
      for (const [x0, y0, x1, y1] of [[c, a, c, b], [a, c, b, c]] as const) {
        const [p, q] = [alpha(x0, y0), alpha(x1, y1)];
        if (p + q < 0.01) continue;
        points.push(x0, y0, 0, x1, y1, 0);
        colours.push(rgb.r, rgb.g, rgb.b, p, rgb.r, rgb.g, rgb.b, q);
      }
    }
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(points), 3));
  geometry.setAttribute("color", new BufferAttribute(new Float32Array(colours), 4));
  return new LineSegments(geometry, new LineBasicMaterial({ vertexColors: true, transparent: true, depthWrite: false }));
}
