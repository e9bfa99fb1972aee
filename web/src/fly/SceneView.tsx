// The 3-D scene with its overlays: camera, numbers, horizon, legend.
import { useEffect, useRef, useState, type ReactNode } from "react";
import type { SensorState } from "../messages.ts";
import { Stage } from "../scene/stage.ts";
import type { Mark } from "../scene/vehicle.ts";
import { fixed } from "../state/format.ts";
import { has } from "../state/frame.ts";
import { download } from "../state/download.ts";
import { everyFrame } from "../state/loop.ts";
import { act, live, world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { toast } from "../state/toasts.ts";
import { quality, shownTime, ui, type Camera } from "../state/ui.ts";
import { Button, Segment } from "../ui/controls.tsx";
import { CameraIcon } from "../ui/icons.tsx";
import { Toasts } from "../ui/Toasts.tsx";
import { drawHorizon, type Angles } from "./horizon.ts";
import { hud } from "./readouts.ts";
import { selectedSensor } from "./selection.ts";

const NEWTON_PER_RADIUS = 2.5; // of a push: drag by one vehicle radius
const PUSH_S = 0.2;

export const CAMERAS: readonly { value: Camera; text: string }[] = [
  { value: "chase", text: "Chase" },
  { value: "orbit", text: "Orbit" },
  { value: "body", text: "Body" },
];

export function SceneView(): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const labels = useRef<HTMLDivElement>(null);
  const stage = useRef<Stage | null>(null);
  const [failed, setFailed] = useState(false);
  const session = useStore(world, (w) => w.session);
  const sensors = useStore(world, (w) => w.sensors);
  const chosen = useStore(selectedSensor, (s) => s);
  const theme = useStore(ui, (u) => u.theme);
  const push = useRef<{ x: number; y: number; text: string } | null>(null);
  useEffect(() => {
    let made: Stage;
    try {
      made = new Stage(canvas.current!, labels.current!, quality);
    } catch {
      return setFailed(true);
    }
    stage.current = made;
    const host = canvas.current!.parentElement!;
    const watch = new ResizeObserver(() => made.resize(host.clientWidth, host.clientHeight));
    watch.observe(host);
    made.resize(host.clientWidth, host.clientHeight);
    let drawn = "";
    const stop = everyFrame(60, () => {
      const { poses, frame } = live;
      if (!frame || poses.rows === 0) return;
      const newest = poses.rows - 1;
      const row = ui.value.cursor === null ? newest : poses.indexAt(ui.value.cursor);
      const key = `${made.version},${row},${live.frames},${push.current?.x},${ui.value.camera},${made.rig.camera.position.x}`;
      if (quality !== "high" && key === drawn) return;
      drawn = key;
      const { scene } = world.value;
      made.draw({
        poses, row, newest, camera: ui.value.camera, field: scene?.field_n ?? null, gravity: scene?.gravity_m_s2 ?? 0,
        estimatesPosition: has(frame.state, "estimates_position"), push: push.current,
      });
    });
    return () => {
      stop();
      watch.disconnect();
      made.dispose();
      stage.current = null;
    };
  }, []);
  useEffect(() => {
    if (session && session.bodies.length) stage.current?.load(session, theme === "dark");
    stage.current?.mark(marks(world.value.sensors, selectedSensor.value));
  }, [session, theme]);
  useEffect(() => stage.current?.mark(marks(sensors, chosen)), [sensors, chosen]);
  const drag = useRef<{ x: number; y: number; push: boolean } | null>(null);
  const release = (): void => {
    const given = push.current;
    const made = stage.current;
    push.current = null;
    drag.current = null;
    const link = session?.bodies[session.body]?.name;
    if (!given || !made || !link) return;
    const force = made.inScene(given.x, given.y).multiplyScalar(newtonPerMetre(session.bodies.length));
    if (force.length() > 0.05) void act({ type: "push", link, force_n: [force.x, force.y, force.z], for_s: PUSH_S }, "The push was refused");
  };
  return (
    <section className="scene" aria-label="Scene" id="region-scene" tabIndex={-1}>
      <canvas
        ref={canvas}
        role="img"
        aria-label="The vehicle in its scene. Drag next to it to turn the camera, drag the vehicle to push it. Numbers are in the tables."
        onPointerDown={(e) => {
          const box = e.currentTarget.getBoundingClientRect();
          const onVehicle = (stage.current?.hits(e.clientX - box.left, e.clientY - box.top) ?? false) && session?.mode === "live" && ui.value.cursor === null;
          drag.current = { x: e.clientX, y: e.clientY, push: onVehicle };
          e.currentTarget.setPointerCapture(e.pointerId);
        }}
        onPointerMove={(e) => {
          const begin = drag.current;
          if (!begin || !stage.current) return;
          if (begin.push) {
            const [x, y] = [e.clientX - begin.x, e.clientY - begin.y];
            const force = stage.current.inScene(x, y).length() * newtonPerMetre(session?.bodies.length ?? 1);
            push.current = { x, y, text: `Push ${fixed(force, 1)} N for ${PUSH_S} s` };
          } else {
            stage.current.rig.turn(e.clientX - begin.x, e.clientY - begin.y);
            drag.current = { ...begin, x: e.clientX, y: e.clientY };
          }
        }}
        onPointerUp={release}
        onPointerCancel={() => {
          push.current = null;
          drag.current = null;
        }}
        onDoubleClick={() => stage.current?.rig.reset()}
        onWheel={(e) => stage.current?.rig.scale(e.deltaY > 0 ? 1.12 : 0.89)}
      />
      <div className="labels" ref={labels} aria-hidden="true" />
      {failed && <NoWebGl />}
      <div className="hud tl">
        <CameraChoice />
        <Button className="small ico quiet" label="Save a picture of the scene" title="Save a picture" onClick={() => void savePicture(stage.current)}><CameraIcon /></Button>
      </div>
      {session?.mode !== "device" && <Numbers />}
      <HorizonInset />
      <Legend device={session?.mode === "device"} />
      <Toasts />
    </section>
  );
}

function marks(sensors: readonly SensorState[], { name, planned }: typeof selectedSensor.value): Mark[] {
  const list = sensors.map((sensor) => ({ body: sensor.body, position: sensor.position_m, quaternion: sensor.quaternion, bright: sensor.name === name && !planned }));
  return planned ? [...list, planned] : list;
}

function newtonPerMetre(bodies: number): number {
  return NEWTON_PER_RADIUS * (bodies > 4 ? 6 : 4);
}

function CameraChoice(): ReactNode {
  const camera = useStore(ui, (u) => u.camera);
  return <Segment small label="Camera" value={camera} options={CAMERAS} onChange={(c) => ui.set({ camera: c })} />;
}

async function savePicture(stage: Stage | null): Promise<void> {
  const blob = await stage?.picture();
  if (!blob) return toast("error", "No picture", "The scene is not drawn.");
  const name = `strapdown-${fixed(shownTime(), 2)}s.png`;
  download(name, blob);
  toast("ok", "Picture saved", name);
}

function NoWebGl(): ReactNode {
  return (
    <div className="nowebgl" role="alert">
      <h2>No 3-D picture</h2>
      <p>This browser gives no WebGL. Charts, sensors, diagram and reports work without it.</p>
      <p>Switch on hardware acceleration in the settings of the browser, or use another one, and load the page again.</p>
    </div>
  );
}

function Numbers(): ReactNode {
  const cells = useRef<(HTMLElement | null)[]>([]);
  const signals = useStore(world, (w) => w.signals);
  const [estimates, setEstimates] = useState(false);
  useEffect(() => {
    const { speed } = hud(signals);
    return everyFrame(10, () => {
      const { poses, frame } = live;
      const session = world.value.session;
      if (!frame || !session || poses.rows === 0) return;
      const t = shownTime();
      const row = poses.indexAt(t);
      const truth = poses.pose(row, session.body);
      const put = (i: number, text: string): void => {
        const cell = cells.current[i];
        if (cell && cell.textContent !== text) cell.textContent = text;
      };
      put(0, fixed(truth[2]!, 2));
      if (speed) put(1, fixed(Math.hypot(...[0, 1, 2].map((k) => live.samples.valueAt(speed.name, k, t))), 2));
      const own = has(frame.state, "estimates_position");
      setEstimates(own);
      const e = poses.estimate(row);
      if (own) put(2, fixed(Math.hypot(e[0]! - truth[0]!, e[1]! - truth[1]!, e[2]! - truth[2]!), 2));
    });
  }, [signals]);
  const cell = (i: number) => (element: HTMLElement | null): void => void (cells.current[i] = element);
  return (
    <table className="hud tr">
      <tbody>
        <tr><th scope="row">Height</th><td ref={cell(0)}>–</td><td>m</td></tr>
        {hud(signals).speed && <tr><th scope="row">Speed</th><td ref={cell(1)}>–</td><td>m/s</td></tr>}
        {estimates && <tr><th scope="row">Position error</th><td ref={cell(2)}>–</td><td>m</td></tr>}
      </tbody>
    </table>
  );
}

const ROWS = ["Roll", "Pitch", "Heading"] as const;

function HorizonInset(): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const cells = useRef<(HTMLElement | null)[]>([]);
  const signals = useStore(world, (w) => w.signals);
  const theme = useStore(ui, (u) => u.theme);
  const truthKnown = hud(signals).attitudeTruth !== undefined;
  useEffect(() => {
    const { attitudeEstimate, attitudeTruth } = hud(signals);
    let drawn = "";
    const at = (signal: typeof attitudeTruth, t: number): Angles | null => {
      if (!signal) return null;
      const value = (name: string): number => {
        const part = signal.labels.findIndex((label) => label.toLowerCase().startsWith(name));
        return part < 0 ? NaN : live.samples.valueAt(signal.name, part, t);
      };
      const angles = { roll: value("roll"), pitch: value("pitch"), heading: value("heading") };
      return Object.values(angles).every(Number.isFinite) ? angles : null;
    };
    return everyFrame(20, () => {
      const t = shownTime();
      const truth = at(attitudeTruth, t);
      const estimate = at(attitudeEstimate, t);
      const key = JSON.stringify([truth, estimate, canvas.current?.clientWidth]);
      if (key === drawn || !canvas.current) return;
      drawn = key;
      drawHorizon(canvas.current, truth, estimate);
      [estimate, truth].forEach((angles, c) =>
        ROWS.forEach((name, r) => {
          const cell = cells.current[2 * r + c];
          const text = angles ? `${fixed(angles[name.toLowerCase() as keyof Angles], 1)}°` : "–";
          if (cell && cell.textContent !== text) cell.textContent = text;
        }),
      );
    });
  }, [signals, theme]);
  return (
    <div className="hud bl">
      <canvas ref={canvas} role="img" aria-label="Artificial horizon and heading. Its numbers are in the table next to it." />
      <table className="wide-only">
        <thead>
          <tr><th><span className="sr">Angle</span></th><th className="num">est.</th>{truthKnown && <th className="num">truth</th>}</tr>
        </thead>
        <tbody>
          {ROWS.map((name, r) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td className="num" ref={(e) => void (cells.current[2 * r] = e)}>–</td>
              {truthKnown && <td className="num dim" ref={(e) => void (cells.current[2 * r + 1] = e)}>–</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Legend({ device }: { device: boolean }): ReactNode {
  const looking = useStore(ui, (u) => u.cursor !== null);
  if (device) return <div className="hud br" aria-hidden="true"><span className="key"><i className="k-estimate" />Estimated attitude</span></div>;
  return (
    <div className="hud br" aria-hidden="true">
      <span className="key"><i className="k-truth" />Truth</span>
      <span className="key"><i className="k-estimate" />Estimate</span>
      {looking && <span className="key"><i className="k-later" />After cursor</span>}
    </div>
  );
}
