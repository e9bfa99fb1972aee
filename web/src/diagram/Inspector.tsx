// The selected block: its parameters, where its inputs come from, its present values. Or the selected wire.
import { useEffect, useMemo, useRef, type ReactNode } from "react";
import type * as M from "../messages.ts";
import { unitText } from "../state/format.ts";
import { everyFrame } from "../state/loop.ts";
import { act, live, shownAs, subscribe, world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { toast } from "../state/toasts.ts";
import { addChart, show, ui } from "../state/ui.ts";
import { chartModels } from "../fly/chart-lines.ts";
import { Strip } from "../fly/strip.ts";
import { Button, Menu } from "../ui/controls.tsx";
import { NumberRow, TextRow } from "../ui/fields.tsx";
import { Cross } from "../ui/icons.tsx";
import { SchemaForm, type Schema } from "../ui/schema.tsx";
import { PortIcon } from "./BlockNode.tsx";
import { openSub } from "./Canvas.tsx";
import { draft, edit } from "./draft.ts";
import { blockOf, changeBlock, connect, disconnect, portsOf, removeBlocks, rename, replaceKind, shapeOf, sheetAt, type BlockTable, type Diagram } from "./model.ts";
import { kindTitle } from "./Palette.tsx";
import { signalText } from "./values.ts";

export function Inspector({ diagram }: { diagram: Diagram }): ReactNode {
  const { selected, edge, path } = useStore(draft, (d) => d);
  const sheet = sheetAt(diagram, path);
  const block = sheet?.block?.find((b) => b.name === selected);
  const wire = sheet?.wire?.find((w) => w.to === edge);
  return (
    <aside className="panel insp" aria-label="Selected block">
      {block ? <BlockForm key={block.name} block={block} diagram={diagram} /> : wire ? <WireForm from={wire.from} to={wire.to} /> : <Nothing diagram={diagram} />}
    </aside>
  );
}

function Nothing({ diagram }: { diagram: Diagram }): ReactNode {
  return (
    <>
      <div className="phead"><h2>Diagram</h2></div>
      <div className="gbody scroll">
        <p className="note spaced">Select a block for its parameters, or a wire for its signal. Drag from an output to an input to connect them. Double-click a sub-diagram to open it.</p>
        <TextRow label="Title" value={diagram.title ?? ""} onApply={(title) => edit((d) => ({ ...d, title }))} />
        <NumberRow label="Base clock" value={diagram.base_hz ?? 1000} unit="Hz" limits={{ above: 0 }} onApply={(base_hz) => edit((d) => ({ ...d, base_hz }))} />
        <NumberRow label="Control rate" value={diagram.control_hz ?? 250} unit="Hz" limits={{ above: 0 }} onApply={(control_hz) => edit((d) => ({ ...d, control_hz }))} />
      </div>
    </>
  );
}

function BlockForm({ block, diagram }: { block: BlockTable; diagram: Diagram }): ReactNode {
  const path = useStore(draft, (d) => d.path);
  const hello = useStore(world, (w) => w.hello);
  const state = useStore(world, (w) => w.diagram);
  const kinds = useMemo(() => new Map((hello?.kinds ?? []).map((k) => [k.kind, k])), [hello]);
  const kind = kinds.get(block.kind ?? "");
  const running = useMemo(() => new Map((state?.blocks ?? []).map((b) => [b.path, b])), [state]);
  const ports = portsOf(block, path, diagram, running, kinds);
  const full = [...path, block.name].join("/");
  const flies = running.get(full)?.kind === block.kind;
  const setParameter = (name: string, value: unknown): void => {
    const parameters = { ...(block.parameters ?? {}), [name]: value };
    // a block that flies takes the value at once; a draft keeps it too
    if (flies) void act({ type: "parameters", block: full, changes: { [name]: value } }, "The parameter was not changed");
    if (!flies || draft.value.draft) edit((d) => changeBlock(d, path, block.name, { parameters }));
  };
  const alike = [...kinds.values()].filter((k) => k.category === kind?.category && k.kind !== block.kind && fits(k, kind));
  return (
    <>
      <div className="phead">
        <h2 className="cut">{block.name[0]!.toUpperCase() + block.name.slice(1)}</h2>
        <span className="badge">{block.diagram ? "sub-diagram" : (kind?.category ?? "unknown")}</span>
        <span className="grow" />
        <Button className="quiet small ico" label="Close" onClick={() => draft.set({ selected: null })}><Cross /></Button>
      </div>
      <div className="pbody gbody scroll">
        {kind && <p className="note spaced">{kind.description}</p>}
        {block.diagram && <div className="actions spaced"><Button className="small" onClick={() => openSub(block.name)}>Open sub-diagram</Button></div>}
        <TextRow label="Name" value={block.name} check={(t) => (/[./"]/.test(t) || !t.trim() ? "No dots, slashes or quotes." : "")} onApply={(name) => { edit((d) => rename(d, path, block.name, name)); draft.set({ selected: name }); }} />
        {kind && <SchemaForm schema={kind.schema as Schema} values={block.parameters ?? {}} onApply={setParameter} />}
        <Inputs block={block} diagram={diagram} ports={ports.inputs} running={running} kinds={kinds} />
        <Outputs full={full} ports={ports.outputs} block={block} />
        <div className="actions">
          {alike.length > 0 && (
            <Menu label={`Replace ${block.name} by another kind`} className="btn small" items={alike.map((k) => ({ text: kindTitle(k.kind), detail: short(k.description), run: () => edit((d) => replaceKind(d, path, block.name, k)) }))}>Replace by…</Menu>
          )}
          <Button className="small" onClick={() => chartOutputs(full)} missing={flies || block.diagram ? undefined : "Apply the diagram first"}>Chart outputs</Button>
          <Button className="quiet small" onClick={() => edit((d) => removeBlocks(d, path, [block.name]))}>Delete</Button>
        </div>
        <p className="note">Body x forward, y left, z up. Angles ZYX, body to world.</p>
      </div>
    </>
  );
}

const short = (text: string): string => (text.length > 60 ? `${text.slice(0, 58)}…` : text);

/** Whether a kind can take the place of another: it has outputs of the same names. */
function fits(kind: M.Kind, other: M.Kind | undefined): boolean {
  const names = new Set(kind.outputs?.map((p) => p.name));
  return (other?.outputs ?? []).some((p) => names.has(p.name));
}

function Inputs({ block, diagram, ports, running, kinds }: { block: BlockTable; diagram: Diagram; ports: readonly M.PortInfo[]; running: ReadonlyMap<string, M.BlockState>; kinds: ReadonlyMap<string, M.Kind> }): ReactNode {
  const path = useStore(draft, (d) => d.path);
  const sheet = sheetAt(diagram, path);
  if (ports.length === 0 || !sheet) return null;
  const sources = [
    ...(sheet.input ?? []).map((p) => p.name),
    ...(sheet.block ?? []).flatMap((b) => (b === block ? [] : portsOf(b, path, diagram, running, kinds).outputs.map((p) => `${b.name}.${p.name}`))),
  ];
  return (
    <>
      <div className="fhead">Inputs</div>
      {ports.map((port) => {
        const end = `${block.name}.${port.name}`;
        const from = sheet.wire?.find((w) => w.to === end)?.from ?? "";
        return (
          <div className="frow wide port-row" key={port.name}>
            <span className="lab"><PortIcon shape={shapeOf(port)} />{port.name.replaceAll("_", " ")}</span>
            <select className={`sel small ${!from && port.default === null ? "fault" : ""}`} aria-label={`Source of input ${port.name}${port.unit ? `, ${port.unit}` : ""}`} value={from} onChange={(e) => edit((d) => (e.target.value ? connect(d, path, e.target.value, end) : disconnect(d, path, [end])))}>
              <option value="">{port.default === null ? "not connected" : `none, ${port.default}`}</option>
              {(sources.includes(from) || !from ? sources : [from, ...sources]).map((s) => <option key={s} value={s}>{s}</option>)}
            </select>
          </div>
        );
      })}
    </>
  );
}

function Outputs({ full, ports, block }: { full: string; ports: readonly M.PortInfo[]; block: BlockTable }): ReactNode {
  const cells = useRef(new Map<string, HTMLElement>());
  useEffect(
    () =>
      everyFrame(5, () => {
        for (const [name, cell] of cells.current) {
          const edge = world.value.diagram?.edges.find((e) => e.source === `${block.name}.${name}` && e.sheet === full.split("/").slice(0, -1).join("/"));
          const text = signalText(edge?.signal ?? `diagram/${full}.${name}`)?.text ?? "–";
          if (cell.textContent !== text) cell.textContent = text;
        }
      }),
    [full, block.name],
  );
  if (ports.length === 0) return null;
  return (
    <>
      <div className="fhead">Outputs</div>
      <table className="ports">
        <tbody>
          {ports.map((port) => (
            <tr key={port.name}>
              <td><PortIcon shape={shapeOf(port)} /></td>
              <th scope="row">{port.name.replaceAll("_", " ")}</th>
              <td className="num" ref={(e) => void (e ? cells.current.set(port.name, e) : cells.current.delete(port.name))} />
              <td className="dim">{port.unit === "quaternion" ? "w x y z" : unitText(shownAs(port.unit).unit)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function chartOutputs(full: string): void {
  const own = world.value.signals.filter((s) => s.block === full || s.name.startsWith(`diagram/${full}.`));
  own.slice(0, 6).forEach(addChart);
  if (own.length) toast("ok", own.length === 1 ? "1 chart added" : `${Math.min(6, own.length)} charts added`, "They are in the view Fly.");
}

/** The signal of a wire: its present value and a small chart. */
function WireForm({ from, to }: { from: string; to: string }): ReactNode {
  const path = useStore(draft, (d) => d.path);
  const state = useStore(world, (w) => w.diagram);
  const signals = useStore(world, (w) => w.signals);
  const theme = useStore(ui, (u) => u.theme);
  const name = state?.edges.find((e) => e.sheet === path.join("/") && e.source === from)?.signal;
  const signal = signals.find((s) => s.name === name);
  const host = useRef<HTMLDivElement>(null);
  const value = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!signal || !host.current) return;
    subscribe([...new Set([...ui.value.charts.flatMap((c) => c.signals), signal.name])].slice(0, 64));
    const model = chartModels([{ id: 0, title: signal.title, signals: [signal.name] }], new Map([[signal.name, signal]]), false)[0]!;
    const strip = new Strip(host.current, model, () => live.samples, true);
    const stops = [
      everyFrame(12, () => {
        const t = live.frame?.t ?? 0;
        strip.draw({ from: t - 10, to: t, cursor: t, spans: [], marks: [] });
      }, true),
      everyFrame(5, () => {
        const shown = signalText(signal.name);
        if (value.current) value.current.textContent = shown ? `${shown.text} ${shown.unit}` : "–";
      }),
    ];
    return () => {
      stops.forEach((stop) => stop());
      strip.destroy();
    };
  }, [signal, theme]);
  return (
    <>
      <div className="phead">
        <h2>Wire</h2>
        <span className="grow" />
        <Button className="quiet small ico" label="Close" onClick={() => draft.set({ edge: null })}><Cross /></Button>
      </div>
      <div className="pbody gbody scroll">
        <div className="frow wide"><span className="lab">From</span><span className="value">{from}</span></div>
        <div className="frow wide"><span className="lab">To</span><span className="value">{to}</span></div>
        {signal && <div className="frow wide"><span className="lab">Value</span><b ref={value}>–</b></div>}
        {signal?.frame && <div className="frow wide"><span className="lab">Frame</span><span>{signal.frame}</span></div>}
        {signal ? <div className="mini-chart" ref={host} role="img" aria-label={`Chart of ${signal.title}`} /> : <p className="note">This wire does not fly yet. Apply the diagram to see its values.</p>}
        <div className="actions">
          {signal && <Button className="small" onClick={() => { addChart(signal); toast("ok", "Chart added", signal.title, { label: "Show in Fly", run: () => show("fly") }); }}>Chart in Fly</Button>}
          <Button className="quiet small" onClick={() => { edit((d) => disconnect(d, path, [to])); draft.set({ edge: null }); }}>Delete</Button>
          {blockOf(from) && <Button className="quiet small" onClick={() => draft.set({ selected: blockOf(from), edge: null })}>Show source</Button>}
        </div>
      </div>
    </>
  );
}
