// Still pictures of vehicles: for the chooser and the steps of a calibration. One renderer draws all of them.
import { Color, DirectionalLight, HemisphereLight, PerspectiveCamera, Scene, Vector3, WebGLRenderer } from "three";
import type { Body } from "../messages.ts";
import { colour, token } from "./colours.ts";
import { Ground } from "./ground.ts";
import { Arrow } from "./marks.ts";
import { VehicleModel } from "./vehicle.ts";

export interface Portrait {
  bodies: readonly Body[];
  poses: Float32Array; // of all bodies, 7 numbers each
  main: number;
  azimuth: number; // of the camera, rad from x
  elevation: number;
  distance: number; // in radii of the vehicle
  ground: "earth" | "mars" | null;
  gravity: boolean; // an arrow
  aim?: [number, number, number];
}

let renderer: WebGLRenderer | null | undefined;

function shared(): WebGLRenderer | null {
  if (renderer === undefined) {
    try {
      renderer = new WebGLRenderer({ antialias: true, alpha: true, stencil: true });
    } catch {
      renderer = null;
    }
  }
  return renderer;
}

/** Draw a portrait onto a canvas; false if the browser has no WebGL. */
export function drawPortrait(canvas: HTMLCanvasElement, portrait: Portrait): boolean {
  const gl = shared();
  const ratio = Math.min(2, devicePixelRatio);
  const [w, h] = [Math.round(canvas.clientWidth * ratio), Math.round(canvas.clientHeight * ratio)];
  const paint = canvas.getContext("2d");
  if (!paint || w < 2 || h < 2) return true;
  canvas.width = w;
  canvas.height = h;
  if (!gl) return false;
  const dark = document.documentElement.dataset.theme !== "light";
  const scene = new Scene();
  const vehicle = new VehicleModel(portrait.bodies, portrait.main, dark);
  vehicle.pose(portrait.poses, null);
  scene.add(vehicle.root);
  const at = new Vector3(...(portrait.aim ?? [portrait.poses[7 * portrait.main]!, portrait.poses[7 * portrait.main + 1]!, portrait.poses[7 * portrait.main + 2]!]));
  const r = vehicle.radius;
  let ground: Ground | null = null;
  if (portrait.ground) {
    ground = new Ground(Math.max(0.25, 1.2 * r), { red: portrait.ground === "mars" });
    ground.follow(at.x, at.y);
    scene.add(ground.root);
  } else {
    scene.background = null;
    vehicle.root.children.filter((o) => !o.matrixAutoUpdate && o.type === "Mesh").forEach((o) => (o.visible = false));
  }
  let arrow: Arrow | null = null;
  if (portrait.gravity) {
    arrow = new Arrow(colour("gravity"), r);
    arrow.set(at, new Vector3(0, 0, -r));
    scene.add(arrow.root);
  }
  const sun = new DirectionalLight(0xffffff, dark ? 2.2 : 2.5);
  sun.position.set(-3, -4, 7);
  const fill = new DirectionalLight(0xffffff, 0.8);
  fill.position.set(4, 3, 1);
  scene.add(new HemisphereLight(0xffffff, new Color(token("ground-2") || "#333333"), dark ? 1.2 : 1.6), sun, fill);
  const camera = new PerspectiveCamera(34, w / h, 0.01 * r, 3000);
  camera.up.set(0, 0, 1);
  const d = portrait.distance * r * Math.max(1, Math.sqrt(h / w));
  const flat = Math.cos(portrait.elevation) * d;
  camera.position.set(at.x + Math.cos(portrait.azimuth) * flat, at.y + Math.sin(portrait.azimuth) * flat, at.z + Math.sin(portrait.elevation) * d);
  camera.lookAt(at);
  gl.setPixelRatio(1);
  gl.setSize(w, h, false);
  gl.setClearColor(0x000000, 0);
  gl.render(scene, camera);
  paint.clearRect(0, 0, w, h);
  if (!portrait.ground) {
    // a plate under the vehicle
    paint.fillStyle = token("bg-3");
    paint.globalAlpha = 0.6;
    paint.beginPath();
    paint.ellipse(w / 2, 0.72 * h, Math.min(0.34 * w, 0.42 * h), Math.min(0.11 * w, 0.14 * h), 0, 0, 7);
    paint.fill();
    paint.globalAlpha = 1;
  }
  paint.drawImage(gl.domElement, 0, 0, w, h);
  if (arrow) {
    const tip = arrow.tip.clone().project(camera);
    paint.font = `600 ${12 * ratio}px ${token("font-ui")}`;
    paint.fillStyle = token("gravity");
    paint.fillText("g", ((tip.x + 1) / 2) * w + 7 * ratio, ((1 - tip.y) / 2) * h);
  }
  vehicle.dispose();
  ground?.dispose();
  arrow?.dispose();
  return true;
}
