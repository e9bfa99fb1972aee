// Cameras: chase follows behind the vehicle, orbit keeps its direction, body looks along the nose.
import { Matrix4, PerspectiveCamera, Quaternion, Vector3 } from "three";
import type { Camera } from "../state/ui.ts";

const TURN_PER_PX = 0.0075; // rad
const DISTANCE = 4.9; // of the camera, in radii of the vehicle
const LOWER = 0.09; // point at which the camera looks, below the vehicle, in distances
const FOLLOW_S = 0.35; // time in which the chase camera follows a turn

export class CameraRig {
  readonly camera = new PerspectiveCamera(38, 1, 0.02, 2500);
  private azimuth = -0.5; // of the camera around the vehicle, from behind
  private elevation = 0.2;
  private zoom = 1;
  private heading = 0;
  private headingKnown = false;
  private readonly target = new Vector3();
  private targetKnown = false;

  turn(dx: number, dy: number): void {
    this.azimuth -= dx * TURN_PER_PX;
    this.elevation = Math.min(1.5, Math.max(-0.15, this.elevation + dy * TURN_PER_PX));
  }

  scale(factor: number): void {
    this.zoom = Math.min(40, Math.max(0.3, this.zoom * factor));
  }

  reset(): void {
    this.azimuth = -0.5;
    this.elevation = 0.2;
    this.zoom = 1;
  }

  forget(): void {
    this.headingKnown = this.targetKnown = false;
  }

  /** dt: seconds since the last picture. at: middle of the vehicle; body: pose of the main body. */
  place(mode: Camera, at: Vector3, body: Matrix4, radius: number, dt: number): void {
    const forward = new Vector3(1, 0, 0).transformDirection(body);
    if (mode === "body") {
      const up = new Vector3(0, 0, 1).transformDirection(body);
      const eye = new Vector3().setFromMatrixPosition(body).addScaledVector(up, 0.25 * radius).addScaledVector(forward, 0.6 * radius);
      this.camera.position.copy(eye);
      const look = new Matrix4().lookAt(eye, eye.clone().add(forward).addScaledVector(up, -0.06), up);
      this.camera.quaternion.copy(new Quaternion().setFromRotationMatrix(look));
      return this.finish(radius);
    }
    const wanted = Math.atan2(forward.y, forward.x);
    if (!this.headingKnown) this.heading = wanted;
    else if (mode === "chase" && Math.hypot(forward.x, forward.y) > 0.2) {
      const turn = Math.atan2(Math.sin(wanted - this.heading), Math.cos(wanted - this.heading));
      this.heading += turn * Math.min(1, dt / FOLLOW_S);
    }
    this.headingKnown = true;
    if (!this.targetKnown || mode === "orbit" || this.target.distanceTo(at) > 6 * radius) this.target.copy(at);
    else this.target.lerp(at, Math.min(1, dt / 0.08));
    this.targetKnown = true;
    const angle = (mode === "chase" ? this.heading : 0) + Math.PI + this.azimuth;
    const distance = DISTANCE * radius * this.zoom;
    const flat = Math.cos(this.elevation) * distance;
    this.camera.position.set(
      this.target.x + Math.cos(angle) * flat,
      this.target.y + Math.sin(angle) * flat,
      Math.max(0.12 * radius, this.target.z + Math.sin(this.elevation) * distance),
    );
    this.camera.up.set(0, 0, 1);
    // the vehicle stands above the middle: the insets are at the lower edge
    this.camera.lookAt(this.target.x, this.target.y, this.target.z - LOWER * distance);
    this.finish(radius);
  }

  private finish(radius: number): void {
    const near = Math.max(0.01, 0.04 * radius);
    if (this.camera.near !== near) {
      this.camera.near = near;
      this.camera.updateProjectionMatrix();
    }
    this.camera.updateMatrixWorld();
  }
}
