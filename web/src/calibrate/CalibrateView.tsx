// The view Calibrate: guided calibrations of a virtual sensor on a turntable of its own.
import { Quaternion } from "three";
import { useEffect, useRef, useState, type ReactNode } from "react";
import type * as M from "../messages.ts";
import { decimalsFor, fixed, short, unitText } from "../state/format.ts";
import { act, answer, sentenceCase, shownAs, world } from "../state/studio.ts";
import { download, toml } from "../state/download.ts";
import { useStore } from "../state/store.ts";
import { toast } from "../state/toasts.ts";
import { ui } from "../state/ui.ts";
import { Button } from "../ui/controls.tsx";
import { Check, StateIcon } from "../ui/icons.tsx";
import { Toasts } from "../ui/Toasts.tsx";
import { PoseCanvas, PoseWork, Bar } from "./poses.tsx";
import { drawSphere, Sphere } from "./Sphere.tsx";
import { evenly } from "./cells.ts";
import { FLOWS, type Workflow } from "./flows.ts";

const DIRECTIONS = 64;
/** A sphere of directions of which none was seen, for its picture. */
const NOTHING_SEEN = { state: "none" as const, covered: [], points: [], missing: evenly(DIRECTIONS) };

export default function CalibrateView(): ReactNode {
  const calibration = useStore(world, (w) => w.calibration);
  const sensors = useStore(world, (w) => w.sensors);
  const device = useStore(world, (w) => w.device);
  const modules = sensors.filter((s) => s.instruments.some((i) => i.name === "gyroscope" || i.name === "accelerometer"));
  const [sensor, setSensor] = useState("");
  const file = useRef<HTMLInputElement>(null);
  const [done, setDone] = useState<ReadonlySet<string>>(new Set());
  const chosen = calibration?.sensor ?? (sensor || (modules[0]?.name ?? ""));
  useEffect(() => {
    if (calibration?.state === "done" && calibration.workflow) setDone((now) => new Set([...now, calibration.workflow!]));
  }, [calibration?.state, calibration?.workflow]);
  const start = (workflow: Workflow): void => void act({ type: "calibrate", action: "start", workflow, sensor: chosen }, "The calibration did not start");
  const active = calibration?.workflow ?? null;
  if (modules.length === 0) return <main className="plain"><div className="empty">This vehicle has no inertial module to calibrate.</div></main>;
  return (
    <main className="calibrate">
      <aside className="panel steps">
        <h1>Calibrate</h1>
        <label className="s dim" htmlFor="cal-sensor">Sensor</label>
        <select id="cal-sensor" className="sel" value={chosen} onChange={(e) => { setSensor(e.target.value); void act({ type: "calibrate", action: "cancel" }); }}>
          {modules.map((m) => <option key={m.name} value={m.name}>{m.name}{m.part ? `, ${m.part}` : ""}</option>)}
        </select>
        <ol>
          {FLOWS.map((flow, i) => (
            <li key={flow.workflow}>
              <button type="button" className={active === flow.workflow ? "on" : ""} aria-current={active === flow.workflow ? "step" : undefined} onClick={() => start(flow.workflow)}>
                <i className={done.has(flow.workflow) ? "done" : ""}>{done.has(flow.workflow) ? <Check /> : i + 1}</i>
                <span><b>{flow.title}</b><small>{flow.text}</small></span>
              </button>
            </li>
          ))}
        </ol>
        <span className="grow" />
        <p className="note">{device ? `You turn the module yourself; its readings show how it lies. “Save” keeps the calibration for module ${device.serial} and uses it from then on.` : "A copy of the virtual sensor, with the same errors, lies on a virtual turntable. The vehicle flies on undisturbed."}</p>
        <div className="actions">
          <Button className="small" onClick={() => file.current?.click()}>Load file</Button>
          <input ref={file} className="sr" type="file" accept=".toml" tabIndex={-1} aria-label="Calibration file" onChange={(e) => { const given = e.target.files?.[0]; if (given) void load(given, chosen); e.target.value = ""; }} />
          <Button className="small" onClick={() => void save()} missing={calibration?.state === "done" ? undefined : "There is no result yet"}>{device ? "Save" : "Save file"}</Button>
          {active && <Button className="small quiet" onClick={() => void act({ type: "calibrate", action: "cancel" })}>Cancel</Button>}
        </div>
      </aside>
      <div className="work">
        {!active && <Choose start={start} magnetic={modules.some((m) => m.name === chosen && m.instruments.some((i) => i.name === "magnetometer"))} />}
        {active && calibration && (calibration.workflow === "magnetometer" ? <MagnetometerWork calibration={calibration} start={start} /> : <PoseWork calibration={calibration} start={start} />)}
        <Result calibration={calibration} real={device !== null} />
        <Toasts />
      </div>
    </main>
  );
}

async function load(file: File, sensor: string): Promise<void> {
  const reply = await answer({ type: "calibrate", action: "load", sensor, name: file.name.slice(-100), text: await file.text() }, "The calibration was not loaded");
  if (!reply?.ok) return;
  toast("ok", "Calibration loaded", world.value.device ? `Kept for module ${world.value.device.serial} and used from now on. ${file.name}` : `Shown with ${sensor}. ${file.name}`);
}

async function save(): Promise<void> {
  const reply = await answer({ type: "calibrate", action: "save" }, "The calibration was not saved");
  if (!reply?.ok || reply.text === null) return;
  const name = reply.file ?? "calibration.toml";
  download(name, toml(reply.text));
  toast("ok", "Calibration saved", world.value.device ? `Kept for module ${world.value.device.serial} and used from now on. ${name}` : name);
}

/** What can be calibrated, before one was begun. */
function Choose({ start, magnetic }: { start(workflow: Workflow): void; magnetic: boolean }): ReactNode {
  return (
    <div className="choose">
      {FLOWS.map((flow, i) => (
        <section key={flow.workflow} className="card" aria-label={flow.title}>
          <div className="preview"><Preview workflow={flow.workflow} /></div>
          <div className="tx">
            <h2>{flow.title}</h2>
            <p className="dim s">{flow.about}</p>
            <Button className={i === 0 ? "prim" : ""} label={`Start: ${flow.title}`} missing={flow.workflow === "magnetometer" && !magnetic ? "This sensor has no magnetometer" : undefined} onClick={() => start(flow.workflow)}>Start</Button>
          </div>
        </section>
      ))}
    </div>
  );
}

const LEVEL = [1, 0, 0, 0];
const HALF = Math.SQRT1_2;
const FACES = [LEVEL, [0, 1, 0, 0], [HALF, 0, -HALF, 0], [HALF, 0, HALF, 0], [HALF, HALF, 0, 0], [HALF, -HALF, 0, 0]];

function Preview({ workflow }: { workflow: Workflow }): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useStore(ui, (u) => u.theme);
  useEffect(() => {
    const shown = canvas.current;
    if (!shown) return;
    const draw = (): void => drawSphere(shown, NOTHING_SEEN, new Quaternion()); // also once more when it has left the page
    draw();
    const watch = new ResizeObserver(draw);
    watch.observe(shown);
    return () => watch.disconnect();
  }, [theme, workflow]);
  if (workflow === "magnetometer") return <canvas ref={canvas} aria-hidden="true" />;
  return (workflow === "static" ? [LEVEL] : FACES).map((attitude, i) => <PoseCanvas key={i} attitude={attitude} />);
}

function MagnetometerWork({ calibration, start }: { calibration: M.Calibration; start(workflow: Workflow): void }): ReactNode {
  const ready = calibration.state === "ready" || calibration.state === "done";
  const missing = /Missing: ([^.]*)\./.exec(calibration.instruction)?.[1];
  const field = calibration.points.at(-1);
  return (
    <section className="card mag" aria-label="Magnetometer, all directions">
      <div className="phead">
        <h2>Magnetometer, turn in all directions</h2>
        <span className={`badge ${calibration.state === "failed" ? "err" : "ok"}`}>{calibration.state === "done" ? "done" : calibration.state === "failed" ? "failed" : calibration.state === "taking" ? "computing" : "collecting"}</span>
        <span className="grow" />
        <Button className="quiet small" onClick={() => start("magnetometer")}>Clear</Button>
      </div>
      <div className="mag-body">
        <Sphere calibration={calibration} />
        <div className="mag-side">
          <div><span className="s dim">Covered</span><p className="big">{fixed(100 * calibration.coverage, 0)} <u>%</u></p><div className="progress ok"><Bar share={calibration.coverage} /></div><span className="xs dim">{fixed(100 * calibration.enough, 0)} % needed</span></div>
          <div><span className="s dim">Samples shown</span><p><b>{calibration.points.length}</b> in {calibration.covered.length} of {calibration.covered.length + calibration.missing.length} cells</p></div>
          {field && <div><span className="s dim">Reading now</span><p><b>{fixed(Math.hypot(...field), 1)} µT</b></p></div>}
          {missing && !ready && <p className="row top"><span className="light"><StateIcon state="warn" /></span><span>Missing: {missing}</span></p>}
          {calibration.error && <p className="cerr s">{sentenceCase(calibration.error)}</p>}
          <Button className="prim" onClick={() => void act({ type: "calibrate", action: "finish" })} missing={calibration.state === "ready" ? undefined : calibration.state === "done" ? "The result is below" : "Turn the sensor further first"}>Compute</Button>
        </div>
      </div>
    </section>
  );
}

/** With as many digits as the standard deviation justifies. */
function shown(row: M.Measured | undefined, number: number | null | undefined): string {
  if (row === undefined || number === null || number === undefined) return "–";
  const { factor } = shownAs(row.unit);
  return row.sigma ? fixed(number * factor, decimalsFor(row.sigma * factor, 2)) : short(number * factor);
}

function Result({ calibration, real }: { calibration: M.Calibration | null; real: boolean }): ReactNode {
  const result = calibration?.result ?? [];
  const compared = calibration?.before ?? [];
  return (
    <section className="card result" aria-label="Result">
      <div className="result-part scroll" tabIndex={0} role="group" aria-label="Result of the calibration">
        <h2>Result{result[0]?.note ? `: ${result[0].note}` : ""}</h2>
        <table>
          <thead><tr><th>Quantity</th><th className="num">Found</th><th className="num">± 1σ</th>{!real && <th className="num">Truth</th>}<th>Unit</th></tr></thead>
          <tbody>
            {result.map((row) => (
              <tr key={row.name}><td>{row.name}</td><td className="num"><b>{shown(row, row.value)}</b></td><td className="num dim">{shown(row, row.sigma)}</td>{!real && <td className="num dim">{shown(row, row.truth)}</td>}<td className="dim">{unitText(shownAs(row.unit).unit)}</td></tr>
            ))}
            {result.length === 0 && <tr><td colSpan={5} className="dim">{calibration?.workflow === null && calibration.error ? sentenceCase(calibration.error) : "The result appears here when the readings are complete."}</td></tr>}
          </tbody>
        </table>
      </div>
      <div className="result-part scroll" tabIndex={0} role="group" aria-label="Before and after">
        <h2>{real ? "Readings, before and after" : "Error of the readings, before and after"}</h2>
        <table>
          <thead><tr><th>{real ? "Quantity" : "Instrument"}</th><th className="num">Before</th><th className="num">After</th>{!real && <th className="num">Limit</th>}<th>Unit</th></tr></thead>
          <tbody>
            {compared.map((row, i) => {
              const after = calibration!.after[i];
              return (
                <tr key={row.name}><td>{real ? row.name : row.name.split(":")[0]}</td><td className="num">{shown(row, row.value)}</td><td className="num"><b>{shown(after, after?.value)}</b></td>{!real && <td className="num dim">{shown(after, after?.sheet)}</td>}<td className="dim">{unitText(shownAs(row.unit).unit)}</td></tr>
              );
            })}
            {compared.length === 0 && <tr><td colSpan={5} className="dim">{real ? "RMS of means over 1 s at rest; spread of the field." : "RMS of means over 1 s against the truth."}</td></tr>}
          </tbody>
        </table>
      </div>
    </section>
  );
}
