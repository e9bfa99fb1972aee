// Faults of a sensor: begin one from a menu, change its size, clear it.
import type { ReactNode } from "react";
import type * as M from "../messages.ts";
import { short as shortNumber, unitText } from "../state/format.ts";
import { act, shownAs, world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { Button, Menu, type MenuItem } from "../ui/controls.tsx";
import { SchemaForm, startValues, type Schema } from "../ui/schema.tsx";

export interface ActiveFault {
  name: string;
  table: Record<string, unknown>;
}

/** The faults of a sensor that are active. */
export function activeFaults(faults: M.Faults["faults"], sensor: string, instrument: string | null): ActiveFault[] {
  return Object.entries(faults)
    .filter(([, table]) => table.sensor === sensor && (instrument === null || table.instrument === null || table.instrument === undefined || table.instrument === instrument))
    .map(([name, table]) => ({ name, table }));
}

// sizes that can be seen at once, in the unit of the instrument
const SIZES: Record<string, number> = { "m/s2": 2, "rad/s": 0.2, uT: 20, rad: 0.1, m: 1, Pa: 50, "m/s": 1 };

const WORDS: Record<string, string> = {
  dead: "No signal", stuck: "Stuck", biased: "Bias jump", noisy: "Noise", spikes: "Spikes", saturated: "Saturates", delayed: "Late", losing: "Drop-outs", outage: "Outage",
};

function tableFor(kind: string, schema: Schema, sensor: string, instrument: M.Instrument | null): Record<string, unknown> {
  const size = SIZES[instrument?.unit ?? ""] ?? 1;
  const sizes: Record<string, unknown> = { offset: [size], sigma: 0.25 * size, size, limit: size, delay_s: 0.1, share: kind === "spikes" ? 0.05 : 0.3 };
  const known = schema.properties ?? {};
  const own = Object.fromEntries(Object.entries(sizes).filter(([name]) => name in known));
  return { ...startValues(schema), ...own, kind, sensor, ...(instrument && "instrument" in known ? { instrument: instrument.name } : {}) };
}

function sizeText(table: Record<string, unknown>, unit: string): string {
  const { unit: shown, factor } = shownAs(unit);
  const written = unitText(shown);
  const number = (v: unknown): string => `${shortNumber(Number(Array.isArray(v) ? v[0] : v) * factor, 2)} ${written}`.trim();
  const parts: string[] = [];
  if ("offset" in table) parts.push(number(table.offset));
  if ("size" in table) parts.push(number(table.size));
  if ("sigma" in table) parts.push(`${number(table.sigma)} (1σ)`);
  if ("limit" in table) parts.push(`at ${number(table.limit)}`);
  if ("delay_s" in table) parts.push(`by ${Number(table.delay_s) * 1000} ms`);
  if ("share" in table) parts.push(`${Number(table.share) * 100} % of readings`);
  return parts.join(", ");
}

export function FaultMenu({ sensor, instrument, active }: { sensor: M.SensorState; instrument: M.Instrument | null; active: readonly ActiveFault[] }): ReactNode {
  const hello = useStore(world, (w) => w.hello);
  const schemas = (hello?.fault_schemas ?? {}) as Record<string, Schema>;
  const what = instrument ? `${sensor.name} ${instrument.name}` : sensor.name;
  const begin = (kind: string): void => {
    const name = `${instrument?.name ?? sensor.name} ${kind}`;
    void act({ type: "begin_fault", name, fault: tableFor(kind, schemas[kind]!, sensor.name, instrument) }, "The fault did not begin");
  };
  const items = (): MenuItem[] => {
    const kinds = Object.entries(schemas).filter(([kind, schema]) => "sensor" in (schema.properties ?? {}) && (instrument ? kind !== "outage" : true));
    return [
      { text: "None", checked: active.length === 0, run: () => active.forEach((fault) => void act({ type: "end_fault", name: fault.name })) },
      ...kinds.map(([kind, schema], i) => ({
        text: WORDS[kind] ?? kind.replaceAll("_", " "),
        detail: sizeText(tableFor(kind, schema, sensor.name, instrument), instrument?.unit ?? ""),
        checked: active.some((fault) => fault.table.kind === kind),
        rule: i === 0,
        run: () => begin(kind),
      })),
    ];
  };
  const first = active[0];
  const shown = first ? (WORDS[String(first.table.kind)] ?? String(first.table.kind)) : "None";
  return (
    <div className="frow wide">
      <span className="lab">Fault</span>
      <Menu label={`Fault of ${what}: ${shown}`} className={`sel small ${first ? "fault" : ""}`} items={items}>
        <span className={first ? "" : "dim"}>{shown}</span>
      </Menu>
    </div>
  );
}

/** An active fault: its size, and the button that clears it. */
export function FaultEditor({ fault, unit }: { fault: ActiveFault; unit: string }): ReactNode {
  const hello = useStore(world, (w) => w.hello);
  const raw = (hello?.fault_schemas[String(fault.table.kind)] ?? {}) as Schema;
  const properties = Object.fromEntries(
    Object.entries(raw.properties ?? {}).map(([name, field]) => [name, ["offset", "size", "sigma", "limit"].includes(name) ? { ...field, unit } : field]),
  );
  const change = async (name: string, value: unknown): Promise<void> => {
    await act({ type: "end_fault", name: fault.name });
    await act({ type: "begin_fault", name: fault.name, fault: { ...fault.table, [name]: value } }, "The fault was not changed");
  };
  return (
    <div className="fault-box">
      <SchemaForm schema={{ ...raw, properties }} values={fault.table} skip={["kind", "sensor", "instrument", "at_s", "until_s", "name"]} onApply={(name, value) => void change(name, value)} />
      <div className="actions">
        <Button className="small danger" onClick={() => void act({ type: "end_fault", name: fault.name })}>Clear fault</Button>
        <span className="xs dim">{WORDS[String(fault.table.kind)] ?? String(fault.table.kind)}, {sizeText(fault.table, unit)}</span>
      </div>
    </div>
  );
}
