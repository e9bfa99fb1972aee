// The report of a run: figures, path, errors over time, events, parameters.
import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import type * as M from "../messages.ts";
import { chartModels, type ChartModel } from "../fly/chart-lines.ts";
import { editMarks, faultSpans } from "../fly/happenings.ts";
import { Strip } from "../fly/strip.ts";
import { fixed, seconds, short, unitText } from "../state/format.ts";
import { connection, sentenceCase, shownAs, world } from "../state/studio.ts";
import { Samples } from "../state/samples.ts";
import { useStore } from "../state/store.ts";
import { ui } from "../state/ui.ts";
import { Button } from "../ui/controls.tsx";
import { drawPath } from "./path.ts";

const BAD = ["lost", "stopped", "failed"];

export default function ReportView(): ReactNode {
  const takes = useStore(world, (w) => w.takes);
  const session = useStore(world, (w) => w.session);
  const [take, setTake] = useState<number | null>(null);
  const [report, setReport] = useState<M.Report | null>(null);
  const [error, setError] = useState("");
  const load = useCallback(() => {
    connection
      .ask({ type: "report", take })
      .then((reply) => {
        setReport(reply.report);
        setError(reply.ok ? "" : sentenceCase(reply.error));
      })
      .catch((failure: Error) => setError(sentenceCase(failure.message)));
  }, [take]);
  useEffect(load, [load, session]);
  const query = take === null ? "" : `?take=${take}`;
  if (error) {
    return (
      <main className="report">
        <div className="empty"><span>{error}</span><Button onClick={load}>Try again</Button></div>
      </main>
    );
  }
  if (!report || !session) return <main className="report"><p className="waiting">The report is being computed.</p></main>;
  return (
    <main className="report scroll" tabIndex={0} aria-label="Report">
      <div className="full row head">
        <h1>{report.title}</h1>
        <span className={`badge ${BAD.includes(report.verdict) ? "err" : report.verdict === "passed" ? "ok" : ""}`}>{report.verdict}</span>
        <span className="dim s">{session.vehicle_title} · seed {session.seed}</span>
        <span className="grow" />
        {takes.takes.length > 0 && (
          <select className="sel" aria-label="Run" value={take ?? ""} onChange={(e) => setTake(e.target.value === "" ? null : Number(e.target.value))}>
            <option value="">Present run</option>
            {takes.takes.map((t) => <option key={t.number} value={t.number}>{t.title}</option>)}
          </select>
        )}
        <Button onClick={load}>Refresh</Button>
        <a className="btn" href={`download/recording${query}`} download>Download recording</a>
        <a className="btn prim" href={`download/report${query}`} download>Download report (HTML)</a>
      </div>
      <Figures report={report} />
      <PathCard report={report} />
      <ErrorCharts take={take} end={report.duration_s} events={report.events} />
      <ErrorsCard report={report} />
      <EventsCard report={report} />
      <ParametersCard report={report} />
    </main>
  );
}

function value(row: M.Measured, number: number | null): string {
  if (number === null) return "–";
  return short(number * shownAs(row.unit).factor);
}

function Figures({ report }: { report: M.Report }): ReactNode {
  const rows = report.figures.slice(0, 5);
  return (
    <div className="card kpi full">
      <div><span>Duration</span><b>{fixed(report.duration_s, 1)} <u>s</u></b></div>
      {rows.map((row) => (
        <div key={row.name}><span>{row.name[0]!.toUpperCase() + row.name.slice(1)}</span><b>{value(row, row.value)} <u>{unitText(shownAs(row.unit).unit)}</u></b></div>
      ))}
    </div>
  );
}

function PathCard({ report }: { report: M.Report }): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useStore(ui, (u) => u.theme);
  useEffect(() => {
    const draw = (): void => void (canvas.current && drawPath(canvas.current, report.path_truth, report.path_estimate));
    draw();
    const watch = new ResizeObserver(draw);
    watch.observe(canvas.current!);
    return () => watch.disconnect();
  }, [report, theme]);
  return (
    <section className="card" aria-label="Path">
      <div className="phead"><h2>Path, from above</h2><span className="grow" /><span className="dim s">{report.path_estimate ? "truth and estimate" : "truth"}, m</span></div>
      <figure><canvas ref={canvas} role="img" aria-label={`Path from above, ${report.path_truth.length} points; east to the right, north up`} /></figure>
    </section>
  );
}

/** Errors of roll, pitch and heading over the run, from the samples that the server keeps. */
function ErrorCharts({ take, end, events }: { take: number | null; end: number; events: readonly M.Event[] }): ReactNode {
  const signals = useStore(world, (w) => w.signals);
  const theme = useStore(ui, (u) => u.theme);
  const [samples, setSamples] = useState<Samples | null>(null);
  const wanted = useMemo(() => signals.filter((s) => s.size === 3 && s.unit === "deg" && (s.role === "error" || s.role === "sigma")), [signals]);
  const models = useMemo(() => {
    const known = new Map(wanted.map((s) => [s.name, s]));
    return chartModels([{ id: 0, title: "Attitude error", signals: wanted.map((s) => s.name) }], known, true);
  }, [wanted]);
  useEffect(() => {
    if (wanted.length === 0) return;
    connection.history({ signals: wanted.map((s) => s.name), most_rows: 4000, take }, (frame) => {
      const table = new Samples(Math.max(10, frame.times.length));
      table.carry(wanted);
      table.append(frame.times, wanted, frame.samples);
      setSamples(table);
    });
  }, [wanted, take]);
  return (
    <section className="card" aria-label="Attitude error">
      <div className="phead"><h2>Attitude error with its 3σ band</h2><span className="grow" /><span className="dim s">estimate − truth, °</span></div>
      <figure className="errs">
        {samples && samples.rows > 1 ? (
          models.map((model, i) => <ErrorChart key={model.key + theme} model={model} samples={samples} last={i === models.length - 1} from={samples.first} to={Math.min(end, samples.last)} events={events} />)
        ) : (
          <div className="empty">{wanted.length ? "No samples of the error in this run." : "This vehicle estimates no attitude."}</div>
        )}
      </figure>
    </section>
  );
}

function ErrorChart({ model, samples, last, from, to, events }: { model: ChartModel; samples: Samples; last: boolean; from: number; to: number; events: readonly M.Event[] }): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const strip = new Strip(host.current!, model, () => samples, last);
    const draw = (): void => strip.draw({ from, to, cursor: -1, spans: faultSpans(events, {}, model), marks: editMarks(events, model) });
    draw();
    const watch = new ResizeObserver(([entry]) => {
      strip.resize(entry!.contentRect.width, entry!.contentRect.height);
      draw();
    });
    watch.observe(host.current!);
    return () => {
      watch.disconnect();
      strip.destroy();
    };
  }, [model, samples, last, from, to, events]);
  return <div className="err-chart" ref={host} role="img" aria-label={`${model.title} from ${seconds(from)} to ${seconds(to)}`}><b>{model.title.replace(" error", "")}</b></div>;
}

function ErrorsCard({ report }: { report: M.Report }): ReactNode {
  return (
    <section className="card" aria-label="Errors">
      <div className="phead"><h2>Errors</h2><span className="grow" /><span className="dim s">estimate − truth</span></div>
      <div className="tb scroll" tabIndex={0} role="group" aria-label="Table of errors">
        <table>
          <thead><tr><th>Quantity</th><th className="num">Value</th><th>Unit</th></tr></thead>
          <tbody>
            {report.figures.map((row) => (
              <tr key={row.name}><td>{row.name[0]!.toUpperCase() + row.name.slice(1)}</td><td className="num"><b>{value(row, row.value)}</b></td><td className="dim">{unitText(shownAs(row.unit).unit)}</td></tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="cap">Frame: x forward, y left, z up. Heading clockwise from north, pitch nose up, roll right side down.</p>
    </section>
  );
}

function EventsCard({ report }: { report: M.Report }): ReactNode {
  const colour = (kind: string): string => (kind.startsWith("fault") || ["tipped", "impact", "stopped", "refused", "away"].includes(kind) ? "cerr" : ["sensor", "parameters", "diagram", "scene"].includes(kind) ? "cacc" : "");
  return (
    <section className="card" aria-label="Events">
      <div className="phead"><h2>Events</h2></div>
      <div className="tb scroll" tabIndex={0} role="group" aria-label="Table of events">
        <table>
          <thead><tr><th className="num">Time</th><th>Event</th></tr></thead>
          <tbody>
            {report.events.map((e) => <tr key={e.number}><td className="num">{fixed(e.t_s, 2)} <span className="dim">s</span></td><td className={`wrap ${colour(e.kind)}`}>{e.text[0]!.toUpperCase() + e.text.slice(1)}</td></tr>)}
            {report.events.length === 0 && <tr><td colSpan={2} className="dim">Nothing happened yet.</td></tr>}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function ParametersCard({ report }: { report: M.Report }): ReactNode {
  return (
    <section className="card wide2" aria-label="Sensor parameters">
      <div className="phead"><h2>Sensor parameters against the data sheet</h2><span className="grow" /><span className="dim s">{report.parameters[0]?.note}</span></div>
      <div className="tb scroll" tabIndex={0} role="group" aria-label="Table of parameters">
        <table>
          <thead><tr><th>Sensor</th><th>Parameter</th><th className="num">Data sheet</th><th className="num">This specimen</th><th className="num">± 1σ</th><th>Unit</th><th>Verdict</th></tr></thead>
          <tbody>
            {report.parameters.map((row) => {
              const [sensor = "", parameter = ""] = row.name.split(": ");
              const within = row.sheet !== null && row.value !== null ? Math.abs(row.value) <= 1.5 * row.sheet : null;
              return (
                <tr key={row.name}>
                  <td>{sensor}</td><td>{PARAMETERS[parameter] ?? parameter}</td><td className="num dim">{value(row, row.sheet)}</td><td className="num"><b>{value(row, row.value)}</b></td>
                  <td className="num dim">{value(row, row.sigma)}</td><td className="dim">{unitText(shownAs(row.unit).unit)}</td>
                  <td>{within === null ? <span className="dim3">no figure</span> : within ? <span className="badge ok">agrees</span> : <span className="badge warn">differs</span>}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const PARAMETERS: Record<string, string> = { bias: "Bias", white: "White noise", instability: "Bias instability", walk: "Random walk" };
