// Create a sensor on a link of the vehicle: kind, part of the catalogue, position, orientation.
import { Euler, Quaternion } from "three";
import { useEffect, useState, type ReactNode } from "react";
import type { Mark } from "../scene/vehicle.ts";
import { act, world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { toast } from "../state/toasts.ts";
import { Button } from "../ui/controls.tsx";
import { ChoiceRow, TextRow } from "../ui/fields.tsx";
import { selectedSensor } from "./selection.ts";
import { SchemaForm, startValues, labelOf, type Schema } from "../ui/schema.tsx";

// rows of their own above; orientation is given once, as angles
const OWN_ROWS = ["name", "part", "link", "quaternion_wxyz"];
// what a new sensor needs; the rest is folded away
const FIRST_ROWS = ["measures", "position_m", "rotation_deg", "rate_hz"];
const DEG = Math.PI / 180;

/** Where the sensor would be; rotation: roll, pitch, yaw in deg, about z, then y, then x. */
function planned(body: number, position: unknown, rotation: unknown): Mark {
  const numbers = (value: unknown): number[] => (Array.isArray(value) && value.length === 3 ? value.map(Number) : [0, 0, 0]);
  const [roll, pitch, yaw] = numbers(rotation).map((angle) => angle * DEG) as [number, number, number];
  const { w, x, y, z } = new Quaternion().setFromEuler(new Euler(roll, pitch, yaw, "ZYX"));
  return { body, position: numbers(position), quaternion: [w, x, y, z], bright: true };
}

function ordered(schema: Schema): Schema {
  const all = schema.properties ?? {};
  return { ...schema, properties: Object.fromEntries(FIRST_ROWS.flatMap((name) => (all[name] ? [[name, all[name]]] : []))) };
}

export function AddSensor({ close }: { close(): void }): ReactNode {
  const hello = useStore(world, (w) => w.hello);
  const session = useStore(world, (w) => w.session);
  const schemas = (hello?.sensor_schemas ?? {}) as Record<string, Schema>;
  const kinds = Object.keys(schemas);
  const [kind, setKind] = useState(kinds[0] ?? "sensor");
  const [values, setValues] = useState<Record<string, unknown>>({});
  const schema = schemas[kind] ?? {};
  const start = startValues(schema);
  const known = schema.properties ?? {};
  const links = session?.links ?? [];
  const main = session?.bodies[session.body]?.name ?? links[0] ?? "";
  const taken = new Set(world.value.sensors.map((s) => s.name));
  const freeName = ((): string => {
    const base = kind === "sensor" ? "imu" : kind;
    for (let i = 1; ; i++) if (!taken.has(i === 1 ? base : `${base} ${i}`)) return i === 1 ? base : `${base} ${i}`;
  })();
  const parts = hello?.parts ?? [];
  const all: Record<string, unknown> = { ...start, name: freeName, link: main, ...(known.part && parts[0] ? { part: parts[0].name } : {}), ...values };
  const set = (name: string, value: unknown): void => setValues((now) => ({ ...now, [name]: value }));
  const body = Math.max(0, session?.bodies.findIndex((b) => b.name === all.link) ?? 0);
  const place = JSON.stringify([body, all.position_m, all.rotation_deg]);
  useEffect(() => {
    const [b, position, rotation] = JSON.parse(place) as [number, unknown, unknown];
    selectedSensor.set({ planned: planned(b, position, rotation) });
  }, [place]);
  useEffect(() => () => selectedSensor.set({ planned: null }), []);
  const create = async (): Promise<void> => {
    const table = Object.fromEntries(Object.entries(all).filter(([name, value]) => name in known && value !== null && value !== ""));
    if (await act({ type: "add_sensor", kind, table }, "The sensor was not added")) {
      toast("ok", `Sensor ${String(all.name)} added`, `On ${String(all.link ?? main)}. Its readings can be charted and wired.`);
      close();
    }
  };
  return (
    <div className="grp add">
      <div className="ghead"><b className="grow">New sensor</b></div>
      <div className="gbody">
        <ChoiceRow label="Kind" value={kind} options={kinds.map((k) => ({ value: k, text: k === "sensor" ? "Inertial module" : labelOf(k) }))} onApply={(k) => { setKind(k); setValues({}); }} />
        {"part" in known && <ChoiceRow label="Part" value={String(all.part ?? "")} options={parts.map((p) => ({ value: p.name, text: p.title || p.name }))} onApply={(v) => set("part", v)} />}
        {"name" in known && <TextRow label="Name" value={String(all.name)} onApply={(v) => set("name", v)} check={(t) => (taken.has(t) ? "This name is taken." : t.trim() ? "" : "Give a name.")} />}
        {"link" in known && <ChoiceRow label="Mounted on" value={String(all.link)} options={links.map((l) => ({ value: l, text: l }))} onApply={(v) => set("link", v)} />}
        <SchemaForm schema={ordered(schema)} values={all} onApply={set} only={FIRST_ROWS} />
        <details className="more">
          <summary>More parameters</summary>
          <SchemaForm schema={schema} values={all} onApply={set} skip={[...OWN_ROWS, ...FIRST_ROWS]} />
        </details>
        <div className="actions">
          <Button className="small prim" onClick={() => void create()}>Add sensor</Button>
          <Button className="small quiet" onClick={close}>Cancel</Button>
        </div>
      </div>
    </div>
  );
}
