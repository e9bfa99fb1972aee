// The view Calibrate: guided calibrations of a virtual sensor on a turntable of its own.
import { useEffect, useRef, useState, type ReactNode } from "react";
import type * as M from "../messages.ts";
import { drawPortrait } from "../scene/portrait.ts";
import { fixed, short, unitText } from "../state/format.ts";
import { act, connection, sentenceCase, shownAs, world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { toast } from "../state/toasts.ts";
import { ui } from "../state/ui.ts";
import { Button } from "../ui/controls.tsx";
import { Check, StateIcon } from "../ui/icons.tsx";
import { Toasts } from "../ui/Toasts.tsx";
import { Sphere } from "./Sphere.tsx";

type Workflow = NonNullable<M.Calibration["workflow"]>;
const FLOWS: readonly { workflow: Workflow; title: string; text: string }[] = [
  { workflow: "static", title: "At rest", text: "Gyroscope offset, 20 s" },
  { workflow: "six_positions", title: "Six positions", text: "Accelerometer offset, scale, axes" },
  { workflow: "magnetometer", title: "All directions", text: "Magnetometer hard and soft iron" },
];

export default function CalibrateView(): ReactNode {
  const calibration = useStore(world, (w) => w.calibration);
  const sensors = useStore(world, (w) => w.sensors);
  const modules = sensors.filter((s) => s.instruments.some((i) => i.name === "gyroscope" || i.name === "accelerometer"));
  const [sensor, setSensor] = useState("");
  const [done, setDone] = useState<ReadonlySet<string>>(new Set());
  const chosen = calibration?.sensor ?? (sensor || (modules[0]?.name ?? ""));
  useEffect(() => {
    if (calibration?.state === "done" && calibration.workflow) setDone((now) => new Set([...now, calibration.workflow!]));
  }, [calibration?.state, calibration?.workflow]);
  const start = (workflow: Workflow): void => void act({ type: "calibrate", action: "start", workflow, sensor: chosen }, "The calibration did not start");
  const active = calibration?.workflow ?? null;
  if (modules.length === 0) return <main className="calibrate"><div className="empty">This vehicle has no inertial module to calibrate.</div></main>;
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
        <p className="note">A copy of the virtual sensor, with the same errors, lies on a virtual turntable. The vehicle flies on undisturbed.</p>
        <div className="actions">
          <Button className="small" onClick={() => void save()} missing={calibration?.state === "done" ? undefined : "There is no result yet"}>Save file</Button>
          {active && <Button className="small quiet" onClick={() => void act({ type: "calibrate", action: "cancel" })}>Cancel</Button>}
        </div>
      </aside>
      <div className="work">
        {!active && <Choose start={start} />}
        {active && calibration && (calibration.workflow === "magnetometer" ? <MagnetometerWork calibration={calibration} start={start} /> : <PoseWork calibration={calibration} start={start} />)}
        <Result calibration={calibration} />
        <Toasts />
      </div>
    </main>
  );
}

async function save(): Promise<void> {
  const reply = await connection.ask({ type: "calibrate", action: "save" });
  if (!reply.ok || reply.text === null) return toast("error", "The calibration was not saved", sentenceCase(reply.error));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([reply.text], { type: "application/toml" }));
  link.download = reply.file ?? "calibration.toml";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  toast("ok", "Calibration saved", link.download);
}

function Choose({ start }: { start(workflow: Workflow): void }): ReactNode {
  return (
    <div className="card choose">
      <div className="empty">
        <span>Choose what to calibrate. Each takes less than a minute.</span>
        <span className="row">{FLOWS.map((flow, i) => <Button key={flow.workflow} className={i === 0 ? "prim" : ""} onClick={() => start(flow.workflow)}>{flow.title}</Button>)}</span>
      </div>
    </div>
  );
}

/** At rest and six positions: pictures of the positions, the present one with its progress. */
function PoseWork({ calibration, start }: { calibration: M.Calibration; start(workflow: Workflow): void }): ReactNode {
  const title = FLOWS.find((f) => f.workflow === calibration.workflow)!.title;
  const taking = calibration.state === "taking";
  const computing = taking && calibration.step >= calibration.steps.length;
  const step = calibration.steps[calibration.step];
  const share = calibration.wanted_s ? calibration.taken_s / calibration.wanted_s : 0;
  return (
    <section className="card poses" aria-label={title}>
      <div className="phead">
        <h2>{title}</h2>
        <span className="badge acc">{Math.min(calibration.step, calibration.steps.length)} of {calibration.steps.length}</span>
        <span className="grow" />
        <Button className="quiet small" onClick={() => start(calibration.workflow!)}>Start over</Button>
      </div>
      <div className={`pose-grid ${calibration.steps.length === 1 ? "one" : ""}`}>
        {calibration.steps.map((pose, i) => <PosePicture key={pose.title} pose={pose} now={i === calibration.step} />)}
      </div>
      <div className="pose-foot">
        <div className="grow">
          <p><b>{calibration.state === "done" ? "All readings are taken" : calibration.state === "failed" ? "Failed" : computing ? "Computing the result" : taking ? `Hold still, ${(WORDS[step?.title ?? ""] ?? step?.title ?? "").toLowerCase()}` : `Next: ${WORDS[step?.title ?? ""] ?? step?.title ?? ""}`}</b>
            <span className="dim s"> {calibration.state === "failed" ? sentenceCase(calibration.error) : calibration.instruction}</span></p>
          <div className={`progress ${calibration.state === "done" ? "ok" : ""}`} role="progressbar" aria-label="Readings" aria-valuenow={Math.round(100 * share)} aria-valuemin={0} aria-valuemax={100}><Bar share={calibration.state === "done" ? 1 : share} /></div>
        </div>
        {taking && <span className="s">{fixed(calibration.taken_s, 1)} of {fixed(calibration.wanted_s, 1)} s</span>}
        {calibration.state === "waiting" && <Button className="prim" onClick={() => void act({ type: "calibrate", action: "next" })}>Take readings</Button>}
      </div>
    </section>
  );
}

function Bar({ share }: { share: number }): ReactNode {
  return <i style={{ width: `${100 * Math.min(1, Math.max(0, share))}%` }} />;
}

const WORDS: Record<string, string> = { "z up": "Level", "z down": "Upside down", "x up": "Nose up", "x down": "Nose down", "y up": "Left up", "y down": "Left down", level: "Level" };

function PosePicture({ pose, now }: { pose: M.Pose; now: boolean }): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const session = useStore(world, (w) => w.session);
  const theme = useStore(ui, (u) => u.theme);
  const key = pose.attitude.map((v) => v.toFixed(2)).join();
  useEffect(() => {
    const draw = (): void => {
      if (!canvas.current || !session) return;
      const main = session.bodies[session.body];
      if (!main) return;
      // the vehicle stands for the sensor that is fixed to it
      const bodies: M.Body[] = [{ name: "world", parent: null, geoms: [] }, { ...main, parent: 0 }];
      const poses = new Float32Array([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...key.split(",").map(Number)]);
      drawPortrait(canvas.current, { bodies, poses, main: 1, azimuth: -2.35, elevation: 0.32, distance: 3.05, ground: null, gravity: true });
    };
    draw();
    const watch = new ResizeObserver(draw);
    watch.observe(canvas.current!);
    return () => watch.disconnect();
  }, [session, theme, key]);
  return (
    <figure className={`pose ${now ? "now" : ""} ${pose.done ? "done" : ""}`}>
      <canvas ref={canvas} role="img" aria-label={`Position ${pose.title}`} />
      <figcaption>
        {pose.done && <span className="cok"><Check /></span>}
        <b>{WORDS[pose.title] ?? pose.title}</b>
        <span className="grow" />
        <span className="xs dim">{pose.done ? pose.title : now ? "now" : "to do"}</span>
      </figcaption>
    </figure>
  );
}

function MagnetometerWork({ calibration, start }: { calibration: M.Calibration; start(workflow: Workflow): void }): ReactNode {
  const ready = calibration.state === "ready" || calibration.state === "done";
  const missing = /Missing: ([^.]*)\./.exec(calibration.instruction)?.[1];
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
          <div><span className="s dim">Covered</span><p className="big">{fixed(100 * calibration.coverage, 0)} <u>%</u></p><div className="progress ok"><Bar share={calibration.coverage} /></div><span className="xs dim">60 % needed</span></div>
          <div><span className="s dim">Samples shown</span><p><b>{calibration.points.length}</b> in {calibration.covered.length} of {calibration.covered.length + calibration.missing.length} cells</p></div>
          {missing && !ready && <p className="row top"><span className="light"><StateIcon state="warn" /></span><span>Missing: {missing}</span></p>}
          {calibration.error && <p className="cerr s">{sentenceCase(calibration.error)}</p>}
          <Button className="prim" onClick={() => void act({ type: "calibrate", action: "finish" })} missing={calibration.state === "ready" ? undefined : calibration.state === "done" ? "The result is below" : "Turn the sensor further first"}>Compute</Button>
        </div>
      </div>
    </section>
  );
}

function shown(row: M.Measured | undefined, number: number | null | undefined): string {
  return row === undefined || number === null || number === undefined ? "–" : short(number * shownAs(row.unit).factor);
}

function Result({ calibration }: { calibration: M.Calibration | null }): ReactNode {
  const result = calibration?.result ?? [];
  const compared = calibration?.before ?? [];
  return (
    <section className="card result" aria-label="Result">
      <div className="result-part scroll" tabIndex={0} role="group" aria-label="Result of the calibration">
        <h2>Result{result[0]?.note ? `: ${result[0].note}` : ""}</h2>
        <table>
          <thead><tr><th>Quantity</th><th className="num">Found</th><th className="num">± 1σ</th><th className="num">Truth</th><th>Unit</th></tr></thead>
          <tbody>
            {result.map((row) => (
              <tr key={row.name}><td>{row.name}</td><td className="num"><b>{shown(row, row.value)}</b></td><td className="num dim">{shown(row, row.sigma)}</td><td className="num dim">{shown(row, row.truth)}</td><td className="dim">{unitText(shownAs(row.unit).unit)}</td></tr>
            ))}
            {result.length === 0 && <tr><td colSpan={5} className="dim">The result appears here when the readings are complete.</td></tr>}
          </tbody>
        </table>
      </div>
      <div className="result-part scroll" tabIndex={0} role="group" aria-label="Before and after">
        <h2>Error of the readings, before and after</h2>
        <table>
          <thead><tr><th>Instrument</th><th className="num">Before</th><th className="num">After</th><th className="num">Limit</th><th>Unit</th></tr></thead>
          <tbody>
            {compared.map((row, i) => {
              const after = calibration!.after[i];
              return (
                <tr key={row.name}><td>{row.name.split(":")[0]}</td><td className="num">{shown(row, row.value)}</td><td className="num"><b>{shown(after, after?.value)}</b></td><td className="num dim">{shown(after, after?.sheet)}</td><td className="dim">{unitText(shownAs(row.unit).unit)}</td></tr>
              );
            })}
            {compared.length === 0 && <tr><td colSpan={5} className="dim">RMS of means over 1 s against the truth.</td></tr>}
          </tbody>
        </table>
      </div>
    </section>
  );
}
