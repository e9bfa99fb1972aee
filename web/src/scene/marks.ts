// Arrows, trails and labels in the scene.
import { BufferGeometry, Color, ConeGeometry, CylinderGeometry, Group, Mesh, MeshBasicMaterial, Quaternion, Vector3, type PerspectiveCamera } from "three";
import { LineMaterial } from "three/examples/jsm/lines/LineMaterial.js";
import { LineSegments2 } from "three/examples/jsm/lines/LineSegments2.js";
import { LineSegmentsGeometry } from "three/examples/jsm/lines/LineSegmentsGeometry.js";
import { straightPieces, type Point } from "./pieces.ts";

const UP = new Vector3(0, 1, 0);

/** An arrow of unit length along y; its thickness is a share of `size`. */
export class Arrow {
  readonly root = new Group();
  private readonly shaft: Mesh;
  private readonly head: Mesh;
  private readonly material: MeshBasicMaterial;
  readonly tip = new Vector3();

  constructor(colour: Color, private readonly size: number, onTop = true) {
    this.material = new MeshBasicMaterial({ color: colour, depthTest: !onTop, transparent: onTop });
    this.shaft = new Mesh(new CylinderGeometry(0.0065, 0.0065, 1, 8).translate(0, 0.5, 0), this.material);
    this.head = new Mesh(new ConeGeometry(0.03, 0.11, 12).translate(0, -0.055, 0), this.material);
    this.root.add(this.shaft, this.head);
    if (onTop) this.root.renderOrder = 5;
    for (const part of [this.shaft, this.head]) part.renderOrder = this.root.renderOrder;
  }

  set(from: Vector3, direction: Vector3): void {
    const length = direction.length();
    this.root.visible = length > 1e-6;
    if (!this.root.visible) return;
    this.root.position.copy(from);
    this.root.quaternion.copy(new Quaternion().setFromUnitVectors(UP, direction.clone().divideScalar(length)));
    this.shaft.scale.set(this.size, Math.max(1e-4, length - 0.11 * this.size), this.size);
    this.head.scale.setScalar(this.size);
    this.head.position.y = length;
    this.tip.copy(from).add(direction);
  }

  dispose(): void {
    (this.shaft.geometry as BufferGeometry).dispose();
    (this.head.geometry as BufferGeometry).dispose();
    this.material.dispose();
  }
}

/** A line of points that changes, up to a number of pieces. */
export class Trail {
  readonly line: LineSegments2;
  private readonly array: Float32Array;
  private readonly geometry = new LineSegmentsGeometry();
  private readonly material: LineMaterial;

  constructor(colour: Color, width: number, private readonly most: number, opacity = 1) {
    this.array = new Float32Array(6 * most);
    this.geometry.setPositions(this.array);
    this.geometry.instanceCount = 0;
    this.material = new LineMaterial({ color: colour.getHex(), linewidth: width, transparent: opacity < 1, opacity });
    this.line = new LineSegments2(this.geometry, this.material);
    this.line.frustumCulled = false;
  }

  /** point(i): the i-th point, false for a gap. wide: how closely (m) the points are followed. */
  follow(count: number, point: Point, wide: number): void {
    this.show(straightPieces(count, point, this.array, wide));
  }

  /** Every second piece between points; false for a gap. */
  dots(count: number, point: Point): void {
    const a = new Vector3();
    const b = new Vector3();
    let n = 0;
    let before = false;
    for (let i = 0; i < count && n < this.most; i++) {
      const known = point(i, b);
      if (known && before && i % 2 === 0) {
        this.array.set([a.x, a.y, a.z, b.x, b.y, b.z], 6 * n);
        n++;
      }
      a.copy(b);
      before = known;
    }
    this.show(n);
  }

  private show(n: number): void {
    this.geometry.instanceCount = n;
    const data = (this.geometry.attributes.instanceStart as unknown as { data: { array: Float32Array; needsUpdate: boolean } }).data;
    if (data.array !== this.array) data.array.set(this.array);
    data.needsUpdate = true;
  }

  size(width: number, height: number): void {
    this.material.resolution.set(width, height);
  }

  dispose(): void {
    this.geometry.dispose();
    this.material.dispose();
  }
}

/** Words over the scene, placed where a point of the scene is seen. */
export class Labels {
  private readonly known = new Map<string, { element: HTMLElement; used: boolean; width: number }>();
  readonly drawn: { element: HTMLElement; x: number; y: number }[] = [];
  private readonly place = new Vector3();

  constructor(private readonly host: HTMLElement) {}

  begin(): void {
    this.drawn.length = 0;
    for (const label of this.known.values()) label.used = false;
  }

  /** shift: from the point, px. before: the text ends there instead of beginning there. */
  put(name: string, text: string, at: Vector3, camera: PerspectiveCamera, width: number, height: number, shift: readonly [number, number] = [8, -8], before = false): void {
    this.place.copy(at).project(camera);
    if (this.place.z > 1 || this.place.z < -1) return;
    let x = ((this.place.x + 1) / 2) * width + shift[0];
    const y = ((1 - this.place.y) / 2) * height + shift[1];
    if (x < -20 || y < -10 || x > width + 10 || y > height + 10) return;
    let label = this.known.get(name);
    if (!label) {
      const element = document.createElement("span");
      element.className = `lb lb-${name}`;
      this.host.append(element);
      label = { element, used: true, width: 0 };
      this.known.set(name, label);
    }
    label.used = true;
    if (label.element.textContent !== text) {
      label.element.textContent = text;
      label.width = label.element.offsetWidth;
    }
    if (before) x -= label.width;
    label.element.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    this.drawn.push({ element: label.element, x, y });
  }

  end(): void {
    for (const { element, used } of this.known.values()) {
      const display = used ? "" : "none";
      if (element.style.display !== display) element.style.display = display;
    }
  }
}
