// The control bar: power, calibration, arming, mode, time, recording, lights.
import { useState, type ReactNode } from "react";
import type * as M from "../messages.ts";
import { fixed } from "../state/format.ts";
import { has } from "../state/frame.ts";
import { act, link, now, operate, toggleRecording, world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { say } from "../state/toasts.ts";
import { show, ui, type View } from "../state/ui.ts";
import { Button, Menu, Segment, Switch } from "../ui/controls.tsx";
import { Again, Check, Pause, Play, StateIcon, Step, type LightState } from "../ui/icons.tsx";
import { Dialog } from "../ui/Dialog.tsx";

const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10];
const LIGHT: Record<M.Light["state"], LightState> = { ok: "ok", degraded: "warn", failed: "err", off: "off" };

export function ControlBar({ view }: { view: View }): ReactNode {
  const session = useStore(world, (w) => w.session);
  const lost = useStore(link, (l) => l.status !== "open");
  if (!session) return null;
  const full = view === "fly" || view === "diagram";
  const live = session.mode === "live";
  const device = session.mode === "device";
  return (
    <section className={`bar ${lost ? "locked" : ""}`} id="region-bar" aria-label="Console" inert={lost}>
      {live && <Console full={full} controls={session.controls} />}
      {live && <span className="sep" />}
      {!device && <RunControls />}
      {full && !device && <SpeedMenu />}
      <Clock />
      {((full && live) || device) && <RecordButton />}
      {full && !device && <ResetButton />}
      <span className="grow" />
      {(live || device) && <Lights />}
    </section>
  );
}

function Console({ full, controls }: { full: boolean; controls: readonly string[] }): ReactNode {
  const state = useStore(now, (n) => n.state);
  const mode = useStore(now, (n) => n.mode);
  const hello = useStore(world, (w) => w.hello);
  const powered = has(state, "powered");
  const calibrating = has(state, "calibrating");
  const armed = has(state, "armed");
  const calibrated = useCalibrated(calibrating);
  const modes = hello?.controls.find((c) => c.name === "mode")?.choices ?? [];
  const options = modes.map((m) => ({ value: m, text: m[0]!.toUpperCase() + m.slice(1) }));
  const setMode = (m: string): void => void operate({ mode: m });
  const arm = (): void => {
    void operate({ arm: !armed }).then((ok) => ok && say(armed ? "Disarmed" : "Armed", true));
  };
  return (
    <>
      <span id="tour-power"><Switch on={powered} label="Power" onChange={(on) => void operate({ power: on })}>Power</Switch></span>
      {controls.includes("calibrate") && (
        <Button
          id="tour-calibrate"
          className={calibrating ? "on" : ""}
          pressed={calibrating}
          missing={!powered ? "Switch the power on first" : armed ? "Disarm first" : undefined}
          title="Gyroscope, accelerometer and heading at rest. Press again to end it."
          onClick={() => void operate({ calibrate: !calibrating })}
        >
          {calibrated && !calibrating && <Check />}
          {calibrating ? "Calibrating, press to end" : "Calibrate"}
        </Button>
      )}
      {controls.includes("arm") && (
        <Button
          id="tour-arm"
          className={armed ? "armed" : ""}
          pressed={armed}
          missing={armed ? undefined : !powered ? "Switch the power on first" : calibrating ? "End the calibration first" : undefined}
          title={armed ? "Disarm (hold Space)" : "The motors turn only when armed"}
          onClick={arm}
        >
          {armed ? "Armed" : "Arm"}
        </Button>
      )}
      {full && controls.includes("mode") && options.length > 0 && (
        <>
          <Segment className="wide-only" label="Mode" value={modes[mode] ?? ""} options={options} onChange={setMode} />
          <Menu className="sel narrow-only" label="Mode" items={options.map((o) => ({ text: o.text, checked: o.value === modes[mode], run: () => setMode(o.value) }))}>
            {options[mode]?.text ?? "Mode"}
          </Menu>
        </>
      )}
    </>
  );
}

/** Whether a calibration was ended since the power is on. */
function useCalibrated(calibrating: boolean): boolean {
  const [was, setWas] = useState(false);
  const [done, setDone] = useState(false);
  if (calibrating && !was) setWas(true);
  if (!calibrating && was) {
    setWas(false);
    setDone(true);
  }
  return done;
}

function RunControls(): ReactNode {
  const running = useStore(now, (n) => has(n.state, "running"));
  return (
    <span className="seg" role="group" aria-label="Simulation">
      <button type="button" aria-pressed={running} aria-label="Run" title="Run (P)" onClick={() => void act({ type: "run", on: true })}><Play /><span className="xl-only">Run</span></button>
      <button type="button" aria-pressed={!running} aria-label="Pause" title="Pause (P)" onClick={() => void act({ type: "run", on: false })}><Pause /><span className="xl-only">Pause</span></button>
      <button type="button" aria-label="Step one cycle" title="Step one cycle (.)" onClick={() => void act({ type: "step", cycles: 1 })}><Step /></button>
    </span>
  );
}

function SpeedMenu(): ReactNode {
  const speed = useStore(now, (n) => n.speed);
  return (
    <Menu label={`Speed, now ${speed} times real time`} className="sel" items={SPEEDS.map((s) => ({ text: `×${s}`, checked: Math.abs(s - speed) < 1e-3, run: () => void act({ type: "speed", factor: s }) }))}>
      ×{Number(speed.toPrecision(3))}
    </Menu>
  );
}

function Clock(): ReactNode {
  const t = useStore(now, (n) => n.t);
  const cursor = useStore(ui, (u) => u.cursor);
  const factor = useStore(now, (n) => Math.round(n.factor * 100) / 100);
  const running = useStore(now, (n) => has(n.state, "running"));
  return (
    <>
      <div className="stat"><small>Time</small><b>{fixed(cursor ?? t, 2)} <u>s</u></b></div>
      <div className="stat rtf"><small>Real time</small><b>{running ? <>{fixed(factor, 2)} <u>×</u></> : "paused"}</b></div>
    </>
  );
}

function RecordButton(): ReactNode {
  const recording = useStore(now, (n) => has(n.state, "recording"));
  return (
    <Button className={recording ? "recording" : ""} pressed={recording} title="Record (R)" onClick={() => void toggleRecording()} label={recording ? "End the recording" : "Record"}>
      <i className="rec-dot" />
      <span className="wide-only">{recording ? "Recording" : "Record"}</span>
    </Button>
  );
}

function ResetButton(): ReactNode {
  const [asked, setAsked] = useState(false);
  return (
    <>
      <Button className="quiet wide-only" onClick={() => setAsked(true)}>Reset</Button>
      <Button className="quiet ico narrow-only" label="Reset" title="Reset" onClick={() => setAsked(true)}><Again /></Button>
      {asked && (
        <Dialog title="Reset to the start?" close={() => setAsked(false)}>
          <p>The vehicle goes back to its start and all times begin at 0 s. The present run is kept as a take.</p>
          <footer>
            <Button className="quiet" onClick={() => setAsked(false)}>Cancel</Button>
            <Button className="prim" onClick={() => { setAsked(false); ui.set({ cursor: null, end: null }); void act({ type: "reset" }); }}>Reset</Button>
          </footer>
        </Dialog>
      )}
    </>
  );
}

function Lights(): ReactNode {
  const lights = useStore(world, (w) => w.lights);
  return (
    <ul className="lights" aria-label="Sensor lights">
      {lights.map((light) => (
        <li key={light.name} className="light" title={`${light.title}: ${light.word || light.state}`}>
          <StateIcon state={LIGHT[light.state]} />
          <b>{light.name}</b>
          {light.state !== "ok" && <span className="word">{light.word}</span>}
          <span className="sr">{light.state === "ok" ? "works" : light.word || light.state}</span>
        </li>
      ))}
      {lights.length === 0 && <li><Button className="quiet small" onClick={() => show("fly")}>No sensors</Button></li>}
    </ul>
  );
}
