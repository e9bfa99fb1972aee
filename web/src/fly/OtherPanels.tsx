// The panels next to Sensors: all signals, and the vehicle.
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import type * as M from "../messages.ts";
import { short, unitText } from "../state/format.ts";
import { everyFrame } from "../state/loop.ts";
import { act, connection, live, shownAs, world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { addChart } from "../state/ui.ts";
import { Button } from "../ui/controls.tsx";
import { ChoiceRow, NumberRow, VectorRow } from "../ui/fields.tsx";
import { DRAG } from "./Charts.tsx";

export function SignalsPanel(): ReactNode {
  const signals = useStore(world, (w) => w.signals);
  const [find, setFind] = useState("");
  const cells = useRef(new Map<string, HTMLElement>());
  useEffect(() => {
    connection.send({ type: "watch", on: true });
    const stop = everyFrame(5, () => {
      const values = live.values?.values;
      if (!values) return;
      world.value.signals.forEach((signal, i) => {
        const cell = cells.current.get(signal.name);
        const numbers = values[i];
        if (!cell || !numbers) return;
        const text = valueText(signal, numbers);
        if (cell.textContent !== text) cell.textContent = text;
      });
    });
    return () => {
      stop();
      connection.send({ type: "watch", on: false });
    };
  }, []);
  const groups = useMemo(() => {
    const wanted = find.trim().toLowerCase();
    const found = new Map<string, M.Signal[]>();
    for (const s of signals) if (!wanted || `${s.title} ${s.name}`.toLowerCase().includes(wanted)) found.set(s.group, [...(found.get(s.group) ?? []), s]);
    return [...found];
  }, [signals, find]);
  return (
    <div className="signals">
      <input className="in text" placeholder="Find a signal" aria-label="Find a signal" value={find} onChange={(e) => setFind(e.target.value)} />
      <p className="note">Drag a signal onto a chart, or press it for a chart of its own.</p>
      {groups.map(([group, list]) => (
        <div key={group}>
          <h3>{group}</h3>
          <ul>
            {list.map((signal) => (
              <li key={signal.name}>
                <button type="button" draggable title={signal.name} onDragStart={(e) => e.dataTransfer.setData(DRAG, signal.name)} onClick={() => addChart(signal)}>
                  <span className="grow">{signal.title}</span>
                  <b ref={(e) => void (e ? cells.current.set(signal.name, e) : cells.current.delete(signal.name))} />
                  <span className="u">{unitText(shownAs(signal.unit).unit)}</span>
                </button>
              </li>
            ))}
          </ul>
        </div>
      ))}
      {groups.length === 0 && <p className="note">No signal has “{find}” in its name.</p>}
    </div>
  );
}

/** A number, "on" or "off", or the length of a vector. */
export function valueText(signal: { unit: string; size: number }, numbers: readonly (number | null)[]): string {
  if (numbers.some((v) => v === null)) return "–";
  const { factor } = shownAs(signal.unit);
  if (signal.unit === "flag") return numbers[0] ? "on" : "off";
  if (signal.unit === "quaternion") return "q";
  const size = signal.size === 1 ? numbers[0]! : Math.hypot(...(numbers as number[]));
  return short(Math.abs(size * factor) < 1e-4 ? 0 : size * factor);
}

export function VehiclePanel(): ReactNode {
  const session = useStore(world, (w) => w.session);
  const clients = useStore(world, (w) => w.clients);
  const [link, setLink] = useState("");
  const [force, setForce] = useState([0, 0, 2]);
  const [length, setLength] = useState(0.2);
  if (!session) return null;
  const chosen = link || session.bodies[session.body]?.name || "";
  const rows: [string, string][] = [
    ["Vehicle", session.vehicle_title], ["Scenario", session.title], ["Seed", String(session.seed)], ["Links", String(session.links.length)],
    ["Actuators", session.actuators.join(", ") || "none"], ["Clients", String(clients.length)],
  ];
  return (
    <div className="gbody vehicle">
      {rows.map(([name, value]) => (
        <div className="frow wide" key={name}><span className="lab">{name}</span><span className="value">{value}</span></div>
      ))}
      {session.comment && <p className="note">{session.comment}</p>}
      {session.mode === "live" && (
        <>
          <div className="fhead">Push</div>
          <ChoiceRow label="Link" value={chosen} options={session.links.map((l) => ({ value: l, text: l }))} onApply={setLink} />
          <VectorRow label="Force, east north up" value={force} unit="N" onApply={setForce} />
          <NumberRow label="Duration" value={length} unit="s" limits={{ above: 0, high: 10 }} onApply={setLength} />
          <div className="actions">
            <Button className="small" onClick={() => void act({ type: "push", link: chosen, force_n: force as [number, number, number], for_s: length }, "The push was refused")}>Push</Button>
            <span className="xs dim3">or drag the vehicle in the scene</span>
          </div>
          <div className="fhead">Files</div>
          <div className="actions">
            <a className="btn small" href="download/scenario">Download scenario</a>
            <a className="btn small" href="download/diagram">Download diagram</a>
          </div>
        </>
      )}
    </div>
  );
}
