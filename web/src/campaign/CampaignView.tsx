// A campaign: how far it is, what it has found, and its runs to be opened.
import { useCallback, useEffect, useState, type ReactNode } from "react";
import type * as M from "../messages.ts";
import { connection, sentenceCase } from "../state/studio.ts";
import { show } from "../state/ui.ts";
import { Button } from "../ui/controls.tsx";
import { axisOf, duration, place } from "./axis.ts";

const EACH_MS = 2000; // while it runs

export default function CampaignView(): ReactNode {
  const [figure, setFigure] = useState<string | null>(null);
  const [state, setState] = useState<M.CampaignState | null>(null);
  const [error, setError] = useState("");
  const load = useCallback(() => {
    connection
      .ask({ type: "campaign", figure })
      .then((reply) => {
        if (reply.campaign) setState(reply.campaign);
        setError(reply.ok ? "" : sentenceCase(reply.error));
      })
      .catch((failure: Error) => setError(sentenceCase(failure.message)));
  }, [figure]);
  useEffect(load, [load]);
  const running = state?.running ?? error !== "";
  useEffect(() => {
    if (!running) return;
    const timer = window.setInterval(load, EACH_MS);
    return () => window.clearInterval(timer);
  }, [running, load]);
  if (!state) {
    return (
      <main className="plain">
        <div className="empty"><span>{error || "The campaign is being read."}</span>{error && <Button onClick={load}>Try again</Button>}</div>
      </main>
    );
  }
  return (
    <main className="campaign scroll" tabIndex={0} aria-label="Campaign">
      <div className="row head">
        <h1>{state.title}</h1>
        <span className="grow" />
        <label className="row s"><span className="dim">Figure</span>
          <select className="sel" aria-label="Figure" value={state.figure ?? ""} onChange={(e) => setFigure(e.target.value)}>
            {state.figures.map((name) => <option key={name} value={name}>{name}</option>)}
          </select>
        </label>
        <Button onClick={load}>Refresh</Button>
      </div>
      {error && <p className="cerr">{error}</p>}
      <Progress state={state} />
      <CellsCard state={state} />
      <div className="pair">
        <EffectsCard state={state} />
        <WorstCard state={state} setError={setError} />
      </div>
      {state.failures.length > 0 && <FailuresCard state={state} setError={setError} />}
    </main>
  );
}

function Progress({ state }: { state: M.CampaignState }): ReactNode {
  const percent = state.total ? Math.min(100, (100 * state.done) / state.total) : 0;
  const rate = state.rate === null ? "" : `, ${state.rate.toPrecision(3)} runs/s`;
  const left = state.left_s === null ? "" : `, ${duration(state.left_s)} left`;
  const text = `${state.done} of ${state.total} runs${state.failed ? `, ${state.failed} failed` : ""}${state.running ? rate + left : ""}`;
  return (
    <section className="card camp-progress" aria-label="Progress">
      <div className="row"><b>{state.running ? "Running" : percent >= 100 ? "Finished" : "Not running"}</b><span className="dim s">{text} · {state.base} · folder {state.folder}</span></div>
      <div className="meter" role="progressbar" aria-label="Runs that are done" aria-valuenow={Math.round(percent)} aria-valuemin={0} aria-valuemax={100}><i style={{ width: `${percent}%` }} /></div>
      {state.note && <p className="cap">{sentenceCase(state.note)}</p>}
    </section>
  );
}

/** A row for each cell: settings, mean with interval, and where its runs are. */
function CellsCard({ state }: { state: M.CampaignState }): ReactNode {
  const axis = axisOf(state);
  return (
    <section className="card" aria-label="Cells">
      <div className="phead"><h2>{state.figure ?? "No figure yet"}</h2><span className="grow" /><span className="dim s">{state.flag ? "share of runs; bar: 95 % interval" : "box: middle half of the runs, line: 5 to 95 %, dot: mean with its 95 % interval"}</span></div>
      <div className="tb scroll" tabIndex={0} role="group" aria-label="Table of cells">
        <table>
          <thead><tr>{state.keys.map((key) => <th key={key}>{key}</th>)}<th className="num">Runs</th><th className="num">Failed</th><th className="num">Mean, 95 % interval</th><th className="wide">{axis.low} to {axis.high}{axis.log ? ", logarithmic" : ""}</th></tr></thead>
          <tbody>
            {state.cells.map((cell) => (
              <tr key={cell.row}>
                {cell.settings.map((text, i) => <td key={state.keys[i]}>{text}</td>)}
                <td className="num">{cell.runs}</td><td className={`num ${cell.failed ? "cerr" : "dim"}`}>{cell.failed}</td><td className="num"><b>{cell.text}</b></td>
                <td className="wide"><Spread cell={cell} state={state} /></td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Spread({ cell, state }: { cell: M.CampaignCell; state: M.CampaignState }): ReactNode {
  const axis = axisOf(state);
  const x = (value: number): number => 100 * place(axis, value);
  const q = cell.quantiles;
  const interval = cell.interval ?? (cell.mean === null ? null : [cell.mean, cell.mean]);
  return (
    <svg className="spread" viewBox="0 0 100 10" preserveAspectRatio="none" role="img" aria-label={cell.text}>
      {!state.flag && q.length === 7 && <line className="range" x1={x(q[1]!)} x2={x(q[5]!)} y1="5" y2="5" />}
      {!state.flag && q.length === 7 && <rect className="half" x={x(q[2]!)} width={Math.max(0.4, x(q[4]!) - x(q[2]!))} y="2" height="6" />}
      {interval && <line className="mean" x1={x(interval[0]!)} x2={Math.max(x(interval[1]!), x(interval[0]!) + 0.4)} y1="5" y2="5" />}
      {cell.mean !== null && <line className="dot" x1={x(cell.mean)} x2={x(cell.mean)} y1="1" y2="9" />}
    </svg>
  );
}

function EffectsCard({ state }: { state: M.CampaignState }): ReactNode {
  return (
    <section className="card" aria-label="Sensitivity">
      <div className="phead"><h2>What it depends on</h2></div>
      <div className="tb scroll" tabIndex={0} role="group" aria-label="Table of effects">
        <table>
          <thead><tr><th>Factor</th><th>Measure</th><th className="num">Value</th><th className="num">Total</th><th className="wide" /></tr></thead>
          <tbody>
            {state.effects.map((effect) => (
              <tr key={effect.factor}>
                <td>{effect.factor}</td><td className="dim">{effect.measure}</td><td className="num"><b>{effect.text}</b></td><td className="num dim">{effect.total}</td>
                <td className="wide"><div className="meter"><i style={{ width: `${Math.min(100, 100 * Math.abs(effect.value))}%` }} /></div></td>
              </tr>
            ))}
            {state.effects.length === 0 && <tr><td colSpan={5} className="dim">Nothing varies but the seed.</td></tr>}
          </tbody>
        </table>
      </div>
    </section>
  );
}

type Report = (error: string) => void;

function open(key: string, setError: Report): void {
  connection
    .ask({ type: "open_run", key })
    .then((reply) => (reply.ok ? show("fly") : setError(sentenceCase(reply.error))))
    .catch((failure: Error) => setError(sentenceCase(failure.message)));
}

function WorstCard({ state, setError }: { state: M.CampaignState; setError: Report }): ReactNode {
  const [key, setKey] = useState("");
  return (
    <section className="card" aria-label="Runs">
      <div className="phead"><h2>Runs with the largest {state.worst_by}</h2></div>
      <div className="tb scroll" tabIndex={0} role="group" aria-label="Table of runs">
        <table>
          <tbody>
            {state.worst.map((run) => (
              <tr key={run.key}>
                <td><code>{run.key}</code></td><td className="dim">{run.settings}</td><td className="num"><b>{run.value}</b></td>
                <td>{state.openable && <Button className="small" label={`Open run ${run.key}`} onClick={() => open(run.key, setError)}>Open</Button>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {state.openable && (
        <form className="row any" onSubmit={(e) => { e.preventDefault(); if (key.trim()) open(key.trim(), setError); }}>
          <input className="in text" placeholder="Key of any run" aria-label="Key of a run" value={key} maxLength={60} onChange={(e) => setKey(e.target.value)} />
          <Button className="small" onClick={() => key.trim() && open(key.trim(), setError)}>Open run</Button>
        </form>
      )}
    </section>
  );
}

function FailuresCard({ state, setError }: { state: M.CampaignState; setError: Report }): ReactNode {
  return (
    <section className="card" aria-label="Failed runs">
      <div className="phead"><h2>Failed runs by cause</h2></div>
      <div className="tb scroll" tabIndex={0} role="group" aria-label="Table of failures">
        <table>
          <thead><tr><th className="num">Runs</th><th>Cause</th><th>One of them</th><th /></tr></thead>
          <tbody>
            {state.failures.map((failure) => (
              <tr key={failure.key}>
                <td className="num">{failure.runs}</td><td className="wrap">{failure.cause}</td><td><code>{failure.key}</code></td>
                <td>{state.openable && <Button className="small" label={`Open run ${failure.key}`} onClick={() => open(failure.key, setError)}>Open</Button>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
