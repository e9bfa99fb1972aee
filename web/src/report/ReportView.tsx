// The report of a run: figures, path, errors over time, events, parameters.
import { useCallback, useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import type * as M from "../messages.ts";
import { chartModels, type ChartModel } from "../fly/chart-lines.ts";
import { editMarks, faultSpans } from "../fly/happenings.ts";
import { Strip } from "../fly/strip.ts";
import { decimalsFor, fixed, seconds, unitText, withUnit } from "../state/format.ts";
import { connection, sentenceCase, world } from "../state/studio.ts";
import { Samples } from "../state/samples.ts";
import { useStore } from "../state/store.ts";
import { ui } from "../state/ui.ts";
import { Button } from "../ui/controls.tsx";
import { drawPath } from "./path.ts";
import { ErrorsCard, EventsCard, ParametersCard } from "./tables.tsx";

const BAD = ["lost", "stopped"];

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
  if (session?.mode === "device") {
    return (
      <main className="plain">
        <div className="empty">A live module has no truth to report on. Record it, then <code>strapdown orient FILE</code> or <code>strapdown navigate FILE</code> writes a report.</div>
      </main>
    );
  }
  if (session?.mode === "replay") {
    return (
      <main className="plain">
        <div className="empty">A replay has no report of its own. <code>strapdown orient FILE</code> writes one of a recording.</div>
      </main>
    );
  }
  if (error) {
    return (
      <main className="plain">
        <div className="empty"><span>{error}</span><Button onClick={load}>Try again</Button></div>
      </main>
    );
  }
  if (!report || !session) return <main className="report"><p className="waiting">The report is being computed.</p></main>;
  return (
    <main className="report scroll" tabIndex={0} aria-label="Report">
      <div className="full row head">
        <h1>{report.title}</h1>
        {report.verdict !== "no limits stated" && <span className={`badge ${BAD.includes(report.verdict) ? "err" : report.verdict === "survives" ? "ok" : "warn"}`}>{report.verdict}</span>}
        <span className="dim s">{session.vehicle_title} · {take === null ? `take ${takes.present}, present run` : `take ${take}`} · seed {session.seed}</span>
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
      <ErrorCharts take={take} end={report.duration_s} counted={report.counted_from_s ?? 0} events={report.events} />
      <ErrorsCard report={report} />
      <EventsCard report={report} />
      <ParametersCard report={report} />
    </main>
  );
}

interface Figure {
  name: string;
  value: string;
  unit: string;
  text: string;
}

function figures(report: M.Report): Figure[] {
  const rows = report.errors.slice(0, 4).map((row) => {
    const unit = unitText(row.unit);
    return { name: `${row.name} error`, value: fixed(row.rms, decimalsFor(row.rms, 2)), unit: `${unit} RMS`, text: `largest ${withUnit(fixed(row.largest, decimalsFor(row.largest, 2)), unit)}` };
  });
  const counted = report.counted_from_s === null ? "nothing to compare" : `errors count from ${seconds(report.counted_from_s)}`;
  return [
    { name: "Duration", value: fixed(report.duration_s, 1), unit: "s", text: counted },
    { name: "Path length", value: fixed(report.path_m, 1), unit: "m", text: `highest speed ${fixed(report.fastest_m_s, 1)} m/s` },
    ...rows,
  ];
}

function Figures({ report }: { report: M.Report }): ReactNode {
  return (
    <div className="card kpi full">
      {figures(report).map((figure) => (
        <div key={figure.name}><span>{figure.name}</span><b>{figure.value} <u>{figure.unit}</u></b><small>{figure.text}</small></div>
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
function ErrorCharts({ take, end, counted, events }: { take: number | null; end: number; counted: number; events: readonly M.Event[] }): ReactNode {
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
          models.map((model, i) => <ErrorChart key={model.key + theme} model={model} samples={samples} last={i === models.length - 1} counted={counted} from={samples.first} to={Math.min(end, samples.last)} events={events} />)
        ) : (
          <div className="empty">{wanted.length ? "No samples of the error in this run." : "This vehicle estimates no attitude."}</div>
        )}
      </figure>
    </section>
  );
}

function ErrorChart({ model, samples, last, counted, from, to, events }: { model: ChartModel; samples: Samples; last: boolean; counted: number; from: number; to: number; events: readonly M.Event[] }): ReactNode {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const strip = new Strip(host.current!, model, () => samples, last);
    // before they count, errors may be a hundred times larger
    strip.fit(counted);
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
  }, [model, samples, last, counted, from, to, events]);
  return <div className="err-chart" ref={host} role="img" aria-label={`${model.title} from ${seconds(from)} to ${seconds(to)}`}><b>{model.title.replace(" error", "")}</b></div>;
}
