// Positions of a calibration: pictures of the vehicle in each, the present one with its progress.
import { useEffect, useRef, type ReactNode } from "react";
import type * as M from "../messages.ts";
import { drawPortrait } from "../scene/portrait.ts";
import { fixed } from "../state/format.ts";
import { act, sentenceCase, world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { ui } from "../state/ui.ts";
import { Button } from "../ui/controls.tsx";
import { Check } from "../ui/icons.tsx";
import { FLOWS, type Workflow } from "./flows.ts";

const WORDS: Record<string, string> = { "z up": "Level", "z down": "Upside down", "x up": "Nose up", "x down": "Nose down", "y up": "Left up", "y down": "Left down", level: "Level", still: "Still" };

/** At rest and six positions: pictures of the positions, the present one with its progress. */
export function PoseWork({ calibration, start }: { calibration: M.Calibration; start(workflow: Workflow): void }): ReactNode {
  const title = FLOWS.find((f) => f.workflow === calibration.workflow)!.title;
  const taking = calibration.state === "taking";
  const computing = taking && calibration.step >= calibration.steps.length;
  const step = calibration.steps[calibration.step];
  const share = calibration.wanted_s ? calibration.taken_s / calibration.wanted_s : 0;
  return (
    <section className="card poses" aria-label={title}>
      <div className="phead">
        <h2>{title}</h2>
        <span className="badge acc">{calibration.steps.filter((pose) => pose.done).length} of {calibration.steps.length}</span>
        <span className="grow" />
        <Button className="quiet small" onClick={() => start(calibration.workflow!)}>Start over</Button>
      </div>
      <div className={`pose-grid ${calibration.steps.length === 1 ? "one" : ""}`}>
        {calibration.steps.map((pose, i) => <PosePicture key={pose.title} pose={pose} now={i === calibration.step} held={taking || !calibration.by_hand} />)}
      </div>
      <div className="pose-foot">
        <div className="grow">
          <p><b>{calibration.state === "done" ? "All readings are taken" : calibration.state === "failed" ? "Failed" : computing ? "Computing the result" : taking ? `Hold still, ${(WORDS[step?.title ?? ""] ?? step?.title ?? "").toLowerCase()}` : `Next: ${WORDS[step?.title ?? ""] ?? step?.title ?? ""}`}</b>
            <span className="dim s"> {calibration.state === "failed" ? sentenceCase(calibration.error) : calibration.instruction}</span></p>
          <div className={`progress ${calibration.state === "done" ? "ok" : ""}`} role="progressbar" aria-label="Readings" aria-valuenow={Math.round(100 * share)} aria-valuemin={0} aria-valuemax={100}><Bar share={calibration.state === "done" ? 1 : share} /></div>
        </div>
        {taking && <span className="s">{fixed(calibration.taken_s, 1)} of {fixed(calibration.wanted_s, 1)} s</span>}
        {calibration.state === "waiting" && !(calibration.by_hand && calibration.workflow === "six_positions") && <Button className="prim" onClick={() => void act({ type: "calibrate", action: "next" })}>Take readings</Button>}
      </div>
    </section>
  );
}

export function Bar({ share }: { share: number }): ReactNode {
  return <i style={{ width: `${100 * Math.min(1, Math.max(0, share))}%` }} />;
}

/** The vehicle in an attitude (q_nb); it stands for the sensor that is fixed to it. */
export function PoseCanvas({ attitude, label }: { attitude: readonly number[]; label?: string }): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const session = useStore(world, (w) => w.session);
  const theme = useStore(ui, (u) => u.theme);
  const key = attitude.map((v) => v.toFixed(2)).join();
  useEffect(() => {
    const draw = (): void => {
      const main = session?.bodies[session.body];
      if (!canvas.current || !main) return;
      const bodies: M.Body[] = [{ name: "world", parent: null, geoms: [] }, { ...main, parent: 0 }];
      const poses = new Float32Array([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, ...key.split(",").map(Number)]);
      drawPortrait(canvas.current, { bodies, poses, main: 1, azimuth: -2.35, elevation: 0.32, distance: 3.2, ground: null, gravity: true });
    };
    draw();
    const watch = new ResizeObserver(draw);
    watch.observe(canvas.current!);
    return () => watch.disconnect();
  }, [session, theme, key]);
  return label ? <canvas ref={canvas} role="img" aria-label={label} /> : <canvas ref={canvas} aria-hidden="true" />;
}

function PosePicture({ pose, now, held }: { pose: M.Pose; now: boolean; held: boolean }): ReactNode {
  const reading = pose.reading === null ? "done" : `${pose.reading > 0 ? "+" : ""}${fixed(pose.reading, 2)} m/s²`;
  return (
    <figure className={`pose ${now ? "now" : ""} ${pose.done ? "done" : ""}`}>
      <PoseCanvas attitude={pose.attitude} label={`Position ${pose.title}`} />
      <figcaption>
        {pose.done && <span className="cok"><Check /></span>}
        <b>{WORDS[pose.title] ?? pose.title}</b>
        <span className="grow" />
        <span className="xs dim">{pose.done ? reading : now ? (held ? "hold" : "next") : "to do"}</span>
      </figcaption>
    </figure>
  );
}
