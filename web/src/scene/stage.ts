// The 3-D scene: draws the poses of one time. It knows nothing of the session but what it is given.
import { DirectionalLight, HemisphereLight, LineBasicMaterial, Line, BufferGeometry, Float32BufferAttribute, Matrix4, Raycaster, Scene, Sphere, Vector2, Vector3, WebGLRenderer, SRGBColorSpace } from "three";
import type { Session } from "../messages.ts";
import { fixed } from "../state/format.ts";
import type { Poses } from "../state/poses.ts";
import type { Camera } from "../state/ui.ts";
import { CameraRig } from "./cameras.ts";
import { colour, token } from "./colours.ts";
import { Ground } from "./ground.ts";
import { Arrow, Labels, Trail } from "./marks.ts";
import { Detail, type Quality } from "./quality.ts";
import { isBare } from "./skeleton.ts";
import { poseMatrix, VehicleModel, type Mark } from "./vehicle.ts";

const TRAIL_S = 60;
const TRAIL_POINTS = 700;
const TRAIL_WIDE = 0.012; // of a body axis: two pixels of a vehicle that fills the picture

export interface Picture {
  poses: Poses;
  row: number; // of the poses that are shown
  newest: number; // last row there is
  camera: Camera;
  field: readonly number[] | null; // uT, frame n
  gravity: number;
  estimatesPosition: boolean;
  push: { x: number; y: number; text: string } | null; // drag in px
}

export class Stage {
  readonly rig = new CameraRig();
  /** Grows when the picture must be drawn again although nothing has moved. */
  version = 0;
  private readonly detail: Detail;
  private readonly renderer: WebGLRenderer;
  private readonly scene = new Scene();
  private readonly labels: Labels;
  private vehicle: VehicleModel | null = null;
  private ground: Ground | null = null;
  private arrows: Record<"x" | "y" | "z" | "g" | "B" | "X" | "Y" | "Z" | "push", Arrow> | null = null;
  private trails: { truth: Trail; estimate: Trail; later: Trail } | null = null;
  private plumb: Line | null = null;
  private width = 1;
  private height = 1;
  private last = 0;
  private trailAt = "";
  private session: Session | null = null;
  private readonly middle = new Vector3();
  private unit = 1; // length of a body axis
  private shown = 1; // radius of what cameras show; it only grows

  /** Throws if the browser has no WebGL. */
  constructor(canvas: HTMLCanvasElement, labels: HTMLElement, quality: Quality) {
    this.detail = new Detail(quality);
    this.renderer = new WebGLRenderer({ canvas, antialias: this.detail.smooth, alpha: false, stencil: true, powerPreference: "high-performance" });
    this.renderer.outputColorSpace = SRGBColorSpace;
    this.labels = new Labels(labels);
  }

  resize(width: number, height: number): void {
    this.version++;
    this.width = Math.max(1, width);
    this.height = Math.max(1, height);
    this.renderer.setPixelRatio(this.detail.ratio);
    this.renderer.setSize(this.width, this.height, false);
    this.rig.camera.aspect = this.width / this.height;
    this.rig.camera.updateProjectionMatrix();
  }

  /** Another vehicle, or another theme. */
  load(session: Session, dark: boolean): void {
    this.version++;
    this.clear();
    this.session = session;
    const vehicle = new VehicleModel(session.bodies, session.body, dark);
    this.vehicle = vehicle;
    const r = vehicle.radius;
    // a robot without shapes has no size of its own
    this.unit = isBare(session.bodies) ? Math.max(r, 0.25) : r;
    this.shown = this.unit;
    const fine = r > 4 ? 5 : 1;
    this.ground = new Ground(fine, { red: session.vehicle.includes("mars") });
    this.scene.add(this.ground.root, vehicle.root, vehicle.ghosts);
    const sun = new DirectionalLight(0xffffff, dark ? 2.1 : 2.4);
    sun.position.set(-3, -4, 7);
    const fill = new DirectionalLight(0xffffff, 0.7);
    fill.position.set(4, 3, 1);
    this.scene.add(new HemisphereLight(0xffffff, colour("ground-2"), dark ? 1.1 : 1.5), sun, fill);
    const make = (name: string, size: number): Arrow => new Arrow(colour(name), size);
    const s = 0.95 * this.unit;
    this.arrows = {
      x: make("x", s), y: make("y", s), z: make("z", s), g: make("gravity", s), B: make("field", s),
      X: new Arrow(colour("x"), 0.7 * s, false), Y: new Arrow(colour("y"), 0.7 * s, false), Z: new Arrow(colour("z"), 0.7 * s, false), push: make("accent", 1.3 * s),
    };
    for (const arrow of Object.values(this.arrows)) this.scene.add(arrow.root);
    const origin = new Vector3(0, 0, 0.01);
    const w = Math.min(1.5, Math.max(0.5, 1.6 * this.unit));
    this.arrows.X.set(origin, new Vector3(w, 0, 0));
    this.arrows.Y.set(origin, new Vector3(0, w, 0));
    this.arrows.Z.set(origin, new Vector3(0, 0, w));
    this.trails = {
      truth: new Trail(colour("truth"), 1.8, TRAIL_POINTS),
      estimate: new Trail(colour("estimate"), 2.4, TRAIL_POINTS, 0.75),
      later: new Trail(colour("truth"), 1.8, TRAIL_POINTS, 0.8),
    };
    for (const trail of Object.values(this.trails)) this.scene.add(trail.line);
    const plumb = new BufferGeometry().setAttribute("position", new Float32BufferAttribute([0, 0, 0, 0, 0, 1], 3));
    this.plumb = new Line(plumb, new LineBasicMaterial({ color: colour("text-2"), transparent: true, opacity: 0.6 }));
    this.scene.add(this.plumb);
    this.rig.forget();
    this.trailAt = "";
  }

  /** Show where sensors are mounted. */
  mark(marks: readonly Mark[]): void {
    this.version++;
    this.vehicle?.mark(marks);
  }

  draw(picture: Picture): void {
    const { vehicle, ground, arrows, session } = this;
    const time = performance.now();
    const dt = Math.min(0.1, (time - this.last) / 1000);
    this.last = time;
    if (!vehicle || !ground || !arrows || !session || picture.poses.rows === 0) return;
    const { poses, row } = picture;
    const from = row * poses.width;
    const all = poses.data.subarray(from, from + poses.bodies * 7);
    const own = poses.estimate(row);
    const estimate = Number.isFinite(own[3]!) ? own : null;
    vehicle.pose(all, estimate);
    const body = poseMatrix(all.subarray(7 * session.body, 7 * session.body + 7));
    const at = new Vector3().setFromMatrixPosition(body);
    this.middle.copy(at);
    ground.follow(at.x, at.y);
    const aim = this.aim(all, at);
    this.rig.place(picture.camera, aim, body, this.shown, dt);
    this.axes(body, at, picture);
    this.followTrails(picture);
    this.names(at, picture);
    this.renderer.render(this.scene, this.rig.camera);
    if (this.detail.drawn(time)) this.resize(this.width, this.height);
  }

  /** Where cameras look, and how much they show: the body of a vehicle, all links of a robot. */
  private aim(poses: Float32Array, at: Vector3): Vector3 {
    if (poses.length / 7 <= 2) return at;
    const { center, radius } = this.vehicle!.around(poses);
    this.shown = Math.max(this.shown, radius);
    return center;
  }

  private axes(body: Matrix4, at: Vector3, picture: Picture): void {
    const { arrows } = this;
    if (!arrows) return;
    const length = 1.05 * this.unit;
    const along = (x: number, y: number, z: number, l: number): Vector3 => new Vector3(x, y, z).transformDirection(body).multiplyScalar(l);
    arrows.x.set(at, along(1, 0, 0, length));
    arrows.y.set(at, along(0, 1, 0, length));
    arrows.z.set(at, along(0, 0, 1, 0.9 * length));
    arrows.g.set(at, new Vector3(0, 0, picture.gravity ? -1.2 * this.unit : 0));
    const field = picture.field ? new Vector3(...picture.field) : new Vector3();
    arrows.B.set(at, field.length() > 1e-3 ? field.normalize().multiplyScalar(1.1 * this.unit) : field.set(0, 0, 0));
    const inside = picture.camera === "body";
    for (const name of ["x", "y", "z", "g", "B"] as const) if (inside) arrows[name].root.visible = false;
    arrows.push.root.visible = false;
    if (picture.push) arrows.push.set(at, this.inScene(picture.push.x, picture.push.y));
    if (this.plumb) {
      this.plumb.position.set(at.x, at.y, 0);
      this.plumb.scale.z = Math.max(1e-3, at.z - 0.3 * this.unit);
      this.plumb.visible = at.z > 0.8 * this.unit;
    }
  }

  /** A drag on the screen (px) as a vector in the plane of the screen at the vehicle, m. */
  inScene(dx: number, dy: number): Vector3 {
    const { camera } = this.rig;
    const distance = camera.position.distanceTo(this.middle);
    const perPx = (2 * distance * Math.tan((camera.fov * Math.PI) / 360)) / this.height;
    return new Vector3(dx * perPx, -dy * perPx, 0).applyQuaternion(camera.quaternion);
  }

  /** Whether a point of the screen is on the vehicle. */
  hits(x: number, y: number): boolean {
    if (!this.vehicle) return false;
    const ray = new Raycaster();
    ray.setFromCamera(new Vector2((2 * x) / this.width - 1, 1 - (2 * y) / this.height), this.rig.camera);
    return ray.ray.intersectsSphere(new Sphere(this.middle, 0.75 * this.vehicle.radius));
  }

  private followTrails({ poses, row, newest, estimatesPosition }: Picture): void {
    const { trails, session } = this;
    if (!trails || !session) return;
    const key = `${row >> 2},${newest === row ? 0 : newest >> 4},${this.width}x${this.height}`;
    if (key === this.trailAt) return;
    this.trailAt = key;
    const first = poses.indexAt(poses.times[row]! - TRAIL_S);
    const every = Math.max(1, Math.ceil((row - first) / (TRAIL_POINTS - 2)));
    const start = Math.ceil(first / every) * every;
    const count = Math.floor((row - start) / every) + 2;
    const which = (i: number): number => Math.min(row, start + i * every);
    const body = session.body * 7;
    const wide = TRAIL_WIDE * this.unit;
    trails.truth.follow(count, (i, p) => {
      const at = which(i) * poses.width + body;
      p.set(poses.data[at]!, poses.data[at + 1]!, poses.data[at + 2]!);
      return true;
    }, wide);
    trails.estimate.line.visible = estimatesPosition;
    if (estimatesPosition) {
      trails.estimate.follow(count, (i, p) => {
        const e = poses.estimate(which(i));
        p.set(e[0]!, e[1]!, e[2]!);
        return Number.isFinite(e[0]!);
      }, wide);
    }
    const rest = newest - row;
    const step = Math.max(1, Math.ceil(rest / (TRAIL_POINTS - 2)));
    trails.later.dots(rest > 0 ? Math.floor(rest / step) + 1 : 0, (i, p) => {
      const at = (row + i * step) * poses.width + body;
      p.set(poses.data[at]!, poses.data[at + 1]!, poses.data[at + 2]!);
      return true;
    });
    for (const trail of Object.values(trails)) trail.size(this.width, this.height);
  }

  private names(at: Vector3, picture: Picture): void {
    const { arrows, labels } = this;
    if (!arrows) return;
    const camera = this.rig.camera;
    labels.begin();
    const put = (name: string, text: string, p: Vector3, shift?: [number, number], before = false): void => labels.put(name, text, p, camera, this.width, this.height, shift, before);
    if (picture.camera !== "body") {
      put("x", "x", arrows.x.tip);
      put("y", "y", arrows.y.tip);
      put("z", "z", arrows.z.tip, [6, -16]);
      if (picture.gravity) put("g", `g ${fixed(picture.gravity, 2)} m/s²`, arrows.g.tip, [10, -8]);
      if (picture.field && arrows.B.root.visible) {
        // next to the arrow of gravity: on the side where it points
        const left = arrows.B.tip.clone().project(camera).x < arrows.g.tip.clone().project(camera).x;
        put("B", `B ${fixed(Math.hypot(...picture.field), 1)} µT`, arrows.B.tip, [left ? -10 : 10, left ? -8 : 8], left);
      }
      if (at.z > 1.2 * this.unit) put("h", `${fixed(at.z, 2)} m above ground`, new Vector3(at.x, at.y, 0.02));
      if (at.length() > 2.5 * this.unit) {
        put("X", "east", arrows.X.tip);
        put("Y", "north", arrows.Y.tip);
        put("Z", "up", arrows.Z.tip);
      }
    }
    if (picture.push) put("push", picture.push.text, arrows.push.tip);
    labels.end();
  }

  /** The picture as a PNG, with its labels. */
  async picture(): Promise<Blob | null> {
    this.renderer.render(this.scene, this.rig.camera);
    const source = this.renderer.domElement;
    const copy = document.createElement("canvas");
    copy.width = source.width;
    copy.height = source.height;
    const paint = copy.getContext("2d");
    if (!paint) return null;
    paint.drawImage(source, 0, 0);
    const scale = source.width / this.width;
    paint.font = `600 ${12 * scale}px ${token("font-ui")}`;
    paint.textBaseline = "top";
    paint.lineWidth = 3 * scale;
    paint.strokeStyle = token("plot");
    for (const { element, x, y } of this.labels.drawn) {
      const text = element.textContent ?? "";
      paint.strokeText(text, x * scale, y * scale);
      paint.fillStyle = getComputedStyle(element).color;
      paint.fillText(text, x * scale, y * scale);
    }
    return new Promise((done) => copy.toBlob(done, "image/png"));
  }

  private clear(): void {
    this.vehicle?.dispose();
    this.ground?.dispose();
    for (const arrow of Object.values(this.arrows ?? {})) arrow.dispose();
    for (const trail of Object.values(this.trails ?? {})) trail.dispose();
    this.plumb?.geometry.dispose();
    this.scene.clear();
  }

  dispose(): void {
    this.clear();
    this.renderer.dispose();
  }
}
