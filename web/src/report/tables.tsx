// Tables of the report: errors, events, parameters of the sensors.
import type { ReactNode } from "react";
import type * as M from "../messages.ts";
import { decimalsFor, fixed, seconds, short, unitText } from "../state/format.ts";
import { shownAs } from "../state/studio.ts";
import { verdict } from "./verdict.ts";

const PARAMETERS: Record<string, string> = { bias: "Bias", white: "White noise", instability: "Bias instability", walk: "Random walk" };

function Tables({ label, children }: { label: string; children: ReactNode }): ReactNode {
  return <div className="tb scroll" tabIndex={0} role="group" aria-label={label}>{children}</div>;
}

function Table({ label, children }: { label: string; children: ReactNode }): ReactNode {
  return <Tables label={label}><table>{children}</table></Tables>;
}

export function ErrorsCard({ report }: { report: M.Report }): ReactNode {
  const from = report.counted_from_s;
  return (
    <section className="card" aria-label="Errors">
      <div className="phead"><h2>Errors</h2><span className="grow" /><span className="dim s">{from === null ? "" : `${seconds(from)} to ${seconds(report.duration_s)}, ${fixed(report.samples, 0)} samples`}</span></div>
      <Tables label="Tables of errors">
       <table>
        <thead><tr><th>Quantity</th><th className="num">RMS</th><th className="num">Mean</th><th className="num">Largest</th><th>Unit</th><th className="num">Inside 3σ</th></tr></thead>
        <tbody>
          {report.errors.map((row) => {
            const decimals = decimalsFor(row.rms, 2);
            return (
              <tr key={row.name}>
                <td>{row.name}</td><td className="num"><b>{fixed(row.rms, decimals)}</b></td><td className="num dim">{fixed(row.mean, decimals)}</td><td className="num dim">{fixed(row.largest, decimals)}</td>
                <td className="dim">{unitText(row.unit)}</td><td className="num">{row.inside === null ? "–" : `${fixed(100 * row.inside, 1)} %`}</td>
              </tr>
            );
          })}
          {report.errors.length === 0 && <tr><td colSpan={6} className="dim">Nothing was estimated yet.</td></tr>}
        </tbody>
       </table>
       {report.others && <Others others={report.others} />}
      </Tables>
      <p className="cap">Estimate minus truth; of vectors the length. 99.7 % inside 3σ is expected.{report.others ? " Other filters run on the recorded readings with their default settings, after a calibration at rest." : ""} Heading clockwise from north, pitch nose up, roll right side down.</p>
    </section>
  );
}

/** Other filters on the same readings, those with the smallest tilt error first; the best of each column in bold. */
function Others({ others }: { others: M.OtherFilters }): ReactNode {
  const columns = ["roll", "pitch", "heading"] as const;
  const tilt = (row: M.FilterRow): number => (row.flown ? -1 : Math.max(row.roll, row.pitch));
  const rows = [...others.rows].sort((a, b) => tilt(a) - tilt(b));
  const best = columns.map((c) => Math.min(...others.rows.map((row) => row[c] ?? Infinity)));
  return (
    <table className="others" aria-label="Other filters on the same readings">
      <thead><tr><th>Other filters, RMS to {seconds(others.to_s)}</th><th className="num">Roll</th><th className="num">Pitch</th><th className="num">Heading</th><th>Unit</th></tr></thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <td>{row.flown ? "as flown" : row.name}</td>
            {columns.map((c, i) => <td key={c} className="num">{row[c] === null ? "–" : row[c] === best[i] ? <b>{fixed(row[c], 2)}</b> : fixed(row[c], 2)}</td>)}
            <td className="dim">°</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function EventsCard({ report }: { report: M.Report }): ReactNode {
  const colour = (kind: string): string => (kind.startsWith("fault") || ["tipped", "impact", "stopped", "refused", "away"].includes(kind) ? "cerr" : ["sensor", "parameters", "diagram", "scene"].includes(kind) ? "cacc" : "");
  return (
    <section className="card" aria-label="Events">
      <div className="phead"><h2>Events</h2></div>
      <Table label="Table of events">
          <thead><tr><th className="num">Time</th><th>Event</th></tr></thead>
          <tbody>
            {report.events.map((e) => <tr key={e.number}><td className="num">{fixed(e.t_s, 2)} <span className="dim">s</span></td><td className={`wrap ${colour(e.kind)}`}>{e.text[0]!.toUpperCase() + e.text.slice(1)}</td></tr>)}
            {report.events.length === 0 && <tr><td colSpan={2} className="dim">Nothing happened yet.</td></tr>}
          </tbody>
      </Table>
    </section>
  );
}

export function ParametersCard({ report }: { report: M.Report }): ReactNode {
  const rest = report.rest_s;
  const shown = (row: M.Measured, number: number | null): string => (number === null ? "–" : short(number * shownAs(row.unit).factor));
  return (
    <section className="card wide2" aria-label="Sensor parameters">
      <div className="phead"><h2>Sensor parameters, from the data against the data sheet</h2><span className="grow" /><span className="dim s">{rest ? `at rest, ${seconds(rest[0]!)} to ${seconds(rest[1]!)}` : "no rest with power on since the last change"}</span></div>
      <Table label="Table of parameters">
        <thead><tr><th>Sensor</th><th>Parameter</th><th className="num">Data sheet</th><th className="num">Set</th><th className="num">From data</th><th className="num">± 1σ</th><th>Unit</th><th>Verdict</th></tr></thead>
        <tbody>
          {report.parameters.map((row) => {
            const [sensor = "", parameter = ""] = row.name.split(": ");
            const [badge, text] = verdict(row);
            return (
              <tr key={row.name}>
                <td>{sensor}</td><td>{PARAMETERS[parameter] ?? parameter}</td><td className="num dim">{row.sheet !== null && row.sheet_estimated ? "~" : ""}{shown(row, row.sheet)}</td><td className="num">{shown(row, row.truth)}</td>
                <td className="num"><b>{shown(row, row.value)}</b></td><td className="num dim">{row.sigma === null ? "–" : short(row.sigma * shownAs(row.unit).factor, 1)}</td><td className="dim">{unitText(shownAs(row.unit).unit)}</td>
                <td>{badge ? <span className={`badge ${badge}`}>{text}</span> : <span className="dim3">{text}</span>}</td>
              </tr>
            );
          })}
        </tbody>
      </Table>
      <p className="cap">Root mean square of the axes. ~ means: estimated, not from a data sheet.</p>
    </section>
  );
}
