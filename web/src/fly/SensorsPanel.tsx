// The sensors of the vehicle: every parameter of their error chains, faults, specimens, mounting.
import { useState, type ReactNode } from "react";
import type * as M from "../messages.ts";
import { fixed, unitText } from "../state/format.ts";
import { act, world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { toast } from "../state/toasts.ts";
import { ui } from "../state/ui.ts";
import { Button, Switch } from "../ui/controls.tsx";
import { Chevron, Dice, StateIcon, type LightState } from "../ui/icons.tsx";
import { SchemaForm, type Schema } from "../ui/schema.tsx";
import { AddSensor } from "./AddSensor.tsx";
import { FaultEditor, FaultMenu, activeFaults } from "./Faults.tsx";
import { selectedSensor } from "./selection.ts";

const LIGHT: Record<M.Light["state"], LightState> = { ok: "ok", degraded: "warn", failed: "err", off: "off" };

export function SensorsPanel({ adding, close }: { adding: boolean; close(): void }): ReactNode {
  const sensors = useStore(world, (w) => w.sensors);
  const replay = useStore(world, (w) => w.session?.mode === "replay");
  if (replay) return <p className="note pad">A replay shows recorded readings. The sensors of a recording cannot be changed.</p>;
  return (
    <>
      {adding && <AddSensor close={close} />}
      {sensors.length === 0 && <div className="empty">This vehicle has no sensor. Add one on a link.</div>}
      {sensors.map((sensor) =>
        sensor.instruments.length > 0 ? (
          sensor.instruments.map((instrument, i) => <InstrumentGroup key={`${sensor.name}/${instrument.name}`} sensor={sensor} instrument={instrument} first={i === 0} />)
        ) : (
          <PlainSensor key={sensor.name} sensor={sensor} />
        ),
      )}
      <EnvironmentGroup />
    </>
  );
}

interface GroupProps {
  id: string;
  title: string;
  badge?: ReactNode;
  light?: LightState | null;
  on?: boolean;
  onSwitch?(on: boolean): void;
  aside?: ReactNode;
  first?: boolean;
  onFold?(open: boolean): void;
  children: ReactNode;
}

export function Group({ id, title, badge, light, on, onSwitch, aside, first, onFold, children }: GroupProps): ReactNode {
  const open = useStore(ui, (u) => u.open[id] ?? first ?? false);
  const fold = (): void => {
    ui.set((u) => ({ open: { ...u.open, [id]: !open } }));
    onFold?.(!open);
  };
  return (
    <div className="grp">
      <div className="ghead">
        <button type="button" className="fold" aria-expanded={open} onClick={fold}>
          <Chevron open={open} />
          <span>{title}</span>
        </button>
        {badge}
        {aside}
        {light && <span className="light"><StateIcon state={light} /></span>}
        {onSwitch && <Switch on={on ?? false} label={`${title} on`} onChange={onSwitch} />}
      </div>
      {open && <div className="gbody">{children}</div>}
    </div>
  );
}

function lightOf(lights: readonly M.Light[], sensor: string, instrument: string, only: boolean): LightState | null {
  const found =
    lights.find((l) => l.title.toLowerCase().includes(instrument) && (only || l.title.includes(sensor) || l.name.includes(sensor))) ??
    lights.find((l) => l.title.toLowerCase().includes(instrument) || instrument.startsWith(l.name));
  return found ? LIGHT[found.state] : null;
}

const short = (name: string): string => name[0]!.toUpperCase() + name.slice(1).replaceAll("_", " ");

function InstrumentGroup({ sensor, instrument, first }: { sensor: M.SensorState; instrument: M.Instrument; first: boolean }): ReactNode {
  const lights = useStore(world, (w) => w.lights);
  const hello = useStore(world, (w) => w.hello);
  const faults = useStore(world, (w) => w.faults);
  const modules = useStore(world, (w) => w.sensors.filter((s) => s.instruments.some((i) => i.name === instrument.name)).length);
  const active = activeFaults(faults, sensor.name, instrument.name);
  const edits = Object.keys(instrument.values).filter((name) => !same(instrument.values[name], instrument.original[name])).length;
  const title = modules > 1 ? `${short(instrument.name)} (${sensor.name})` : short(instrument.name);
  const schema = hello?.error_schema as Schema | undefined;
  const apply = (name: string, value: unknown): void => {
    const before = instrument.values[name];
    const field = schema?.properties?.[name];
    void act({ type: "errors", sensor: sensor.name, instrument: instrument.name, changes: { [name]: value } }, `${title}: not applied`).then(
      (ok) => ok && announce(title, field?.title ?? name, before, value),
    );
  };
  const badge = active.length ? (
    <span className="badge err">{active.length === 1 ? "1 fault" : `${active.length} faults`}</span>
  ) : edits ? (
    <span className="badge acc">{edits === 1 ? "1 edit" : `${edits} edits`}</span>
  ) : null;
  return (
    <Group
      id={`${sensor.name}/${instrument.name}`}
      title={title}
      badge={badge}
      first={first && sensor === world.value.sensors[0] && instrument.name === sensor.instruments[0]?.name}
      light={lightOf(lights, sensor.name, instrument.name, modules === 1)}
      on={instrument.enabled}
      onSwitch={(on) => void act({ type: "enable_sensor", sensor: sensor.name, instrument: instrument.name, on })}
      onFold={(open) => selectedSensor.set({ name: open ? sensor.name : null })}
    >
      <FaultMenu sensor={sensor} instrument={instrument} active={active} />
      {active.map((fault) => <FaultEditor key={fault.name} fault={fault} unit={instrument.unit} />)}
      <PartRows sensor={sensor} />
      {schema && <SchemaForm schema={schema} values={instrument.values} original={instrument.original} unit={instrument.unit} skip={skipped(instrument)} onApply={apply} />}
      <div className="actions">
        <Button className="small" onClick={() => void act({ type: "reset_errors", sensor: sensor.name, instrument: instrument.name })} missing={edits ? undefined : "Nothing was changed"}>Reset to the drawn values</Button>
        <RemoveSensor sensor={sensor} />
      </div>
    </Group>
  );
}

/** Fields without a value are not shown: they do not act. */
function skipped(instrument: M.Instrument): string[] {
  const values = instrument.values;
  const names = ["temperature_bias", "temperature_scale", "g_sensitivity"];
  return names.filter((name) => !(name in values) || (Array.isArray(values[name]) && (values[name] as unknown[]).length === 0) || (name === "g_sensitivity" && instrument.name !== "gyroscope"));
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function announce(title: string, name: string, before: unknown, after: unknown): void {
  const text = (value: unknown): string => (typeof value === "number" ? String(Number(value.toPrecision(4))) : Array.isArray(value) ? "" : String(value ?? "none"));
  const change = text(before) || text(after) ? ` ${text(before)} → ${text(after)}` : "";
  toast("ok", `${title}: ${name.toLowerCase()} changed`, change.trim());
}

function PartRows({ sensor }: { sensor: M.SensorState }): ReactNode {
  const at = sensor.position_m.map((v) => fixed(1000 * v, 0)).join(", ");
  return (
    <>
      <div className="frow wide"><span className="lab">Part</span><span className="value">{sensor.part ?? "own figures"}</span></div>
      <div className="frow wide">
        <span className="lab">Specimen</span>
        <Button className="small" title="Draws bias, scale and axes from the spread of the data sheet" onClick={() => void act({ type: "draw_specimen", sensor: sensor.name }).then((ok) => ok && toast("ok", `${sensor.name}: new specimen drawn`))}>
          <Dice />Draw a new specimen
        </Button>
      </div>
      <div className="frow wide"><span className="lab">Mounted on</span><span className="value">{sensor.link}, ({at}) mm</span></div>
      {sensor.rate_hz && <div className="frow wide"><span className="lab">Sample rate</span><span className="value">{fixed(sensor.rate_hz, 0)} Hz</span></div>}
    </>
  );
}

function RemoveSensor({ sensor }: { sensor: M.SensorState }): ReactNode {
  const [asked, setAsked] = useState(false);
  if (!asked) return <Button className="quiet small" onClick={() => setAsked(true)}>Remove sensor</Button>;
  return (
    <>
      <Button className="small danger" onClick={() => void act({ type: "remove_sensor", sensor: sensor.name }, "The sensor was not removed")}>Remove {sensor.name}</Button>
      <Button className="quiet small" onClick={() => setAsked(false)}>Keep</Button>
    </>
  );
}

/** A sensor that gives one value and has no error chain: altimeter, receiver, odometer. */
function PlainSensor({ sensor }: { sensor: M.SensorState }): ReactNode {
  const lights = useStore(world, (w) => w.lights);
  const faults = useStore(world, (w) => w.faults);
  const active = activeFaults(faults, sensor.name, null);
  const rows = Object.entries(sensor.table).filter(([, value]) => typeof value === "number" || typeof value === "string");
  return (
    <Group
      id={sensor.name}
      title={short(sensor.name)}
      light={lightOf(lights, sensor.name, sensor.kind, true)}
      badge={active.length > 0 && <span className="badge err">{active.length === 1 ? "1 fault" : `${active.length} faults`}</span>}
      onFold={(open) => selectedSensor.set({ name: open ? sensor.name : null })}
    >
      <FaultMenu sensor={sensor} instrument={null} active={active} />
      {active.map((fault) => <FaultEditor key={fault.name} fault={fault} unit="" />)}
      <div className="frow wide"><span className="lab">Mounted on</span><span className="value">{sensor.link}</span></div>
      {rows.map(([name, value]) => (
        <div className="frow wide" key={name}><span className="lab">{short(name)}</span><span className="value">{String(value)}</span></div>
      ))}
      <div className="actions"><RemoveSensor sensor={sensor} /></div>
    </Group>
  );
}

function EnvironmentGroup(): ReactNode {
  const scene = useStore(world, (w) => w.scene);
  const hello = useStore(world, (w) => w.hello);
  if (!scene || !hello) return null;
  const field = fixed(Math.hypot(...scene.field_n), 1);
  const wind = scene.values.wind_m_s as number[] | undefined;
  const speed = wind ? Math.hypot(...wind) : 0;
  const celsius = scene.values.air_temperature_c;
  const summary = [typeof celsius === "number" ? `${fixed(celsius, 1)} °C` : "", `${field} µT`, speed > 0.05 ? `${fixed(speed, 1)} m/s` : "calm"].filter(Boolean).join(", ");
  return (
    <Group id="environment" title="Environment" aside={<span className="xs dim3">{summary}</span>}>
      <SchemaForm schema={hello.scene_schema as Schema} values={scene.values} onApply={(name, value) => void act({ type: "scene", changes: { [name]: value } }, "The scene was not changed")} />
      <p className="note">Vectors point east, north, up. Gravity {fixed(scene.gravity_m_s2, 3)} {unitText("m/s2")}.</p>
    </Group>
  );
}
