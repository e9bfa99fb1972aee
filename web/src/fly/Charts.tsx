// The column of strip charts: one time cursor, any signal by dragging it here.
import { useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from "react";
import type * as M from "../messages.ts";
import { decimalsFor, fixed } from "../state/format.ts";
import { everyFrame } from "../state/loop.ts";
import { live, subscribe, world, link, now } from "../state/studio.ts";
import { has } from "../state/frame.ts";
import { useStore } from "../state/store.ts";
import { addChart, addToChart, backToLive, lookAt, removeChart, removeFromChart, shownTime, standardCharts, ui } from "../state/ui.ts";
import { Button, Menu, Segment, type MenuItem } from "../ui/controls.tsx";
import { Cross, Dots, Plus } from "../ui/icons.tsx";
import { chartModels, splits, type ChartModel } from "./chart-lines.ts";
import { editMarks, faultSpans } from "./happenings.ts";
import { hudSignals } from "./readouts.ts";
import { Strip } from "./strip.ts";

export const DRAG = "application/x-strapdown-signal";
const LOWEST_REM = 5.25; // height of a chart: 84 px

/** The newest time, taken once for all charts: they are drawn one after the other. */
let clock = 0;

/** Right edge and left edge of all charts, s. */
export function shownRange(): [number, number] {
  const { end, span } = ui.value;
  // in the first seconds the charts fill from the left
  const to = end ?? Math.max(clock, span);
  return [to - span, to];
}

function useModels(space: number): { models: ChartModel[]; split: boolean } {
  const charts = useStore(ui, (u) => u.charts);
  const wish = useStore(ui, (u) => u.split);
  const signals = useStore(world, (w) => w.signals);
  return useMemo(() => {
    const known = new Map(signals.map((s) => [s.name, s]));
    const more = charts.filter((c) => splits(c.signals.flatMap((n) => known.get(n) ?? []))).length;
    const split = wish ?? charts.length + 2 * more <= space;
    return { models: chartModels(charts, known, split), split };
  }, [charts, signals, wish, space]);
}

export function Charts(): ReactNode {
  const body = useRef<HTMLDivElement>(null);
  const [space, setSpace] = useState(5);
  useLayoutEffect(() => {
    const watch = new ResizeObserver(([entry]) => {
      const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
      setSpace(Math.max(1, Math.floor(entry!.contentRect.height / (LOWEST_REM * rem))));
    });
    watch.observe(body.current!);
    return () => watch.disconnect();
  }, []);
  const { models, split } = useModels(space);
  const signals = useStore(world, (w) => w.signals);
  const status = useStore(link, (l) => l.status);
  const specs = useStore(ui, (u) => u.charts);
  const charted = useMemo(() => specs.flatMap((c) => c.signals), [specs]);
  useEffect(() => {
    const known = new Set(signals.map((s) => s.name));
    if (status === "open" && signals.length) subscribe([...new Set([...charted, ...hudSignals(signals)])].filter((n) => known.has(n)).slice(0, 64));
  }, [charted, signals, status]);
  const drop = (event: React.DragEvent): void => {
    const signal = signals.find((s) => s.name === event.dataTransfer.getData(DRAG));
    if (signal) addChart(signal);
  };
  return (
    <section className="panel charts" aria-label="Charts" id="region-charts" tabIndex={-1}>
      <ChartsHead split={split} />
      <div className="pbody scroll" ref={body} tabIndex={0} role="group" aria-label="Strip charts" onDragOver={(e) => e.dataTransfer.types.includes(DRAG) && e.preventDefault()} onDrop={drop}>
        {models.length === 0 && (
          <div className="empty">
            <span>No signal in this chart. Drag one here, or choose it.</span>
            <SignalMenu />
          </div>
        )}
        {models.map((model, i) => (
          <ChartRow key={model.key + model.lines.length} model={model} first={i === 0} last={i === models.length - 1} />
        ))}
      </div>
    </section>
  );
}

function ChartsHead({ split }: { split: boolean }): ReactNode {
  const truthKnown = useStore(world, (w) => w.signals.some((s) => s.role === "truth"));
  const span = useStore(ui, (u) => u.span);
  const end = useStore(ui, (u) => u.end);
  return (
    <div className="phead">
      <h2>Charts</h2>
      <span className="legend xl-only" title="An oscillation faster than the chart can show is an area with its mean">
        {truthKnown && <span className="key"><i className="k-truth" />truth</span>}
        <span className="key"><i className="k-reading" />reading, estimate</span>
      </span>
      <span className="grow" />
      {end !== null && <Button className="small" onClick={backToLive} title="Esc">Live</Button>}
      <Segment
        small
        label="Time range of the charts"
        value={String(span)}
        options={["5", "20", "60"].map((s) => ({ value: s, text: `${s} s` }))}
        onChange={(s) => ui.set({ span: Number(s) })}
      />
      <Button className="quiet small" title="Fit the vertical ranges (F)" onClick={() => ui.set((u) => ({ fit: u.fit + 1 }))}>Fit</Button>
      <Menu
        label="Options of the charts"
        className="btn quiet small ico"
        items={[
          { text: "Split axes of the attitude", checked: split, run: () => ui.set({ split: !split }) },
          { text: "Standard charts", run: standardCharts, rule: true },
          { text: end === null ? "Pause the charts" : "Go on with the charts", run: () => (end === null ? lookAt(shownTime()) : backToLive()) },
        ]}
      >
        <Dots />
      </Menu>
      <SignalMenu />
    </div>
  );
}

/** All signals by group, as choices of a menu. */
export function signalItems(signals: readonly M.Signal[], run: (signal: M.Signal) => void): MenuItem[] {
  const groups = new Map<string, M.Signal[]>();
  for (const signal of signals) groups.set(signal.group, [...(groups.get(signal.group) ?? []), signal]);
  return [...groups].flatMap(([group, list]) => [
    { text: group, head: true },
    ...list.map((signal) => ({ text: signal.title, detail: signal.role === "signal" ? "" : signal.role, run: () => run(signal) })),
  ]);
}

function SignalMenu(): ReactNode {
  const signals = useStore(world, (w) => w.signals);
  return (
    <Menu label="Add a chart of a signal" className="btn small" items={() => signalItems(signals, addChart)}>
      <Plus />
      Signal
    </Menu>
  );
}

function ChartRow({ model, first, last }: { model: ChartModel; first: boolean; last: boolean }): ReactNode {
  const canvas = useRef<HTMLDivElement>(null);
  const strip = useRef<Strip | null>(null);
  const theme = useStore(ui, (u) => u.theme);
  const fit = useStore(ui, (u) => u.fit);
  const events = useStore(world, (w) => w.events);
  const faults = useStore(world, (w) => w.faults);
  const happened = useMemo(() => ({ spans: faultSpans(events, faults, model), marks: editMarks(events, model) }), [events, faults, model]);
  const seen = useRef(happened);
  seen.current = happened;
  useEffect(() => {
    const host = canvas.current!;
    const made = new Strip(host, model, () => live.samples, last);
    strip.current = made;
    const watch = new ResizeObserver(([entry]) => made.resize(entry!.contentRect.width, entry!.contentRect.height));
    watch.observe(host);
    const stop = everyFrame(15, () => {
      if (first) clock = live.frame?.t ?? 0;
      const [from, to] = shownRange();
      made.draw({ from, to, cursor: ui.value.cursor ?? clock, ...seen.current });
    }, true);
    return () => {
      stop();
      watch.disconnect();
      made.destroy();
      strip.current = null;
    };
  }, [model, first, last, theme]);
  useEffect(() => strip.current?.fit(), [fit]);
  // before a calibration errors are large and mean nothing: the ranges begin anew when it ends
  const calibrating = useStore(now, (n) => has(n.state, "calibrating"));
  const was = useRef(calibrating);
  useEffect(() => {
    if (was.current && !calibrating && model.roles.includes("error")) strip.current?.fit((live.frame?.t ?? 0) + 0.2);
    was.current = calibrating;
  }, [calibrating, model]);
  const zoom = useRef<{ x: number; t: number } | null>(null);
  const timeAt = (event: React.PointerEvent | React.WheelEvent): number => strip.current!.timeAt(event.clientX - canvas.current!.getBoundingClientRect().left);
  return (
    <div
      className={`ch ${last ? "last" : ""}`}
      onDragOver={(e) => e.dataTransfer.types.includes(DRAG) && e.preventDefault()}
      onDrop={(e) => {
        const name = e.dataTransfer.getData(DRAG);
        if (!name) return;
        e.stopPropagation();
        addToChart(model.spec.id, name);
      }}
    >
      <Gutter model={model} />
      <div
        className="cv"
        ref={canvas}
        role="img"
        aria-label={`Chart of ${model.title}, ${model.unit}. Its numbers are in the table next to it.`}
        onPointerDown={(e) => {
          if (e.button !== 0) return;
          zoom.current = { x: e.clientX, t: timeAt(e) };
          e.currentTarget.setPointerCapture(e.pointerId);
          if (!e.shiftKey) lookAt(zoom.current.t);
        }}
        onPointerMove={(e) => {
          if (zoom.current && e.buttons && !e.shiftKey) lookAt(timeAt(e));
        }}
        onPointerUp={(e) => {
          const begin = zoom.current;
          zoom.current = null;
          if (!begin || !e.shiftKey || Math.abs(e.clientX - begin.x) < 6) return;
          const [a, b] = [begin.t, timeAt(e)].sort((p, q) => p - q) as [number, number];
          ui.set({ end: b, span: Math.max(0.2, b - a), cursor: b });
        }}
        onDoubleClick={() => backToLive()}
        onWheel={(e) => {
          const { span, end } = ui.value;
          const next = Math.min(600, Math.max(0.5, span * (e.deltaY > 0 ? 1.25 : 0.8)));
          if (end === null) return ui.set({ span: next });
          const t = timeAt(e);
          ui.set({ span: next, end: t + ((end - t) * next) / span });
        }}
      />
    </div>
  );
}

const HEADS: Partial<Record<M.Signal["role"], string>> = { truth: "truth", reading: "reading", estimate: "estimate" };

/** Name, unit, and the numbers at the cursor. */
function Gutter({ model }: { model: ChartModel }): ReactNode {
  const numbers = useRef<(HTMLElement | null)[]>([]);
  const isError = model.roles.includes("error");
  const columns = model.roles.filter((role) => role !== "sigma");
  useEffect(() => {
    const decimals = new Map<number, number>();
    return everyFrame(10, () => {
      const t = shownTime();
      const put = (i: number, text: string): void => {
        const element = numbers.current[i];
        if (element && element.textContent !== text) element.textContent = text;
      };
      if (isError) return errorNumbers(model, t, put);
      model.rows.forEach((row, r) =>
        columns.forEach((role, c) => {
          const line = model.lines.find((l) => l.label === row && l.role === role);
          if (!line) return;
          const value = live.samples.valueAt(line.signal, line.part, t) * line.factor;
          const i = r * columns.length + c;
          // the number of decimals only grows: a number does not change its place
          const wanted = Number.isFinite(value) ? decimalsFor(Math.max(Math.abs(value), 1), 3) : 0;
          decimals.set(0, Math.min(decimals.get(0) ?? 2, Math.max(1, wanted)));
          put(i, fixed(value, decimals.get(0)!));
        }),
      );
    });
  }, [model, isError, columns]);
  const cell = (i: number) => (element: HTMLElement | null): void => void (numbers.current[i] = element);
  return (
    <div className="rd">
      <h2>
        {model.title}
        <span>{model.unit}</span>
      </h2>
      {isError ? (
        <dl className="err">
          <dt>error</dt>
          <dd ref={cell(0)} />
          {model.band && (
            <>
              <dt>3σ band</dt>
              <dd ref={cell(1)} className="ce" />
              <dt>inside, <span ref={cell(3)} /></dt>
              <dd ref={cell(2)} />
            </>
          )}
        </dl>
      ) : (
        <table>
          {columns.some((role) => HEADS[role]) && (
            <thead>
              <tr>
                <th><span className="sr">Axis</span></th>
                {columns.map((role) => <th key={role} className="num">{HEADS[role] ?? "value"}</th>)}
              </tr>
            </thead>
          )}
          <tbody>
            {model.rows.map((row, r) => (
              <tr key={row}>
                <th scope="row" className={rowColour(model, row)}>{row && row !== model.title.toLowerCase() ? row : <span className="sr">value</span>}</th>
                {columns.map((role, c) => <td key={role} ref={cell(r * columns.length + c)} className={`num ${role === "truth" ? "dim" : ""}`} />)}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <span className="chart-tools">
        <Menu label={`Signals of chart ${model.title}`} className="btn quiet small ico" items={() => chartItems(model)}><Dots /></Menu>
        <Button className="quiet small ico" label={`Close chart ${model.title}`} onClick={() => removeChart(model.spec.id)}><Cross /></Button>
      </span>
    </div>
  );
}

function chartItems(model: ChartModel): MenuItem[] {
  const known = new Map(world.value.signals.map((s) => [s.name, s]));
  return [
    ...model.spec.signals.map((name) => ({ text: `Remove ${known.get(name)?.title ?? name}`, run: () => removeFromChart(model.spec.id, name) })),
    { text: "Add a signal", head: true },
    ...signalItems(world.value.signals, (signal) => addToChart(model.spec.id, signal.name)),
  ];
}

function rowColour(model: ChartModel, row: string): string {
  const line = model.lines.find((l) => l.label === row && l.role !== "truth");
  const colour = line?.colour ?? "";
  return colour === "x" || colour === "y" || colour === "z" ? `c${colour}` : "";
}

function errorNumbers(model: ChartModel, t: number, put: (i: number, text: string) => void): void {
  const line = model.lines.find((l) => l.role === "error");
  if (!line) return;
  const { samples } = live;
  put(0, fixed(samples.valueAt(line.signal, line.part, t) * line.factor, 2));
  const { band } = model;
  if (!band) return;
  put(1, `±${fixed(samples.valueAt(band.signal, band.part, t) * band.factor, 2)}`);
  const [from, to] = shownRange();
  const error = samples.column(line.signal, line.part);
  const sigma = samples.column(band.signal, band.part);
  let inside = 0;
  let all = 0;
  for (let i = samples.indexAfter(from); i < samples.indexAfter(to) && error && sigma; i++) {
    const e = error[i]! * line.factor;
    const s = sigma[i]! * band.factor;
    if (e !== e || s !== s) continue;
    all++;
    if (Math.abs(e) <= s) inside++;
  }
  put(2, all ? `${fixed((100 * inside) / all, 1)} %` : "–");
  put(3, `${fixed(Math.min(ui.value.span, clock), 0)} s`);
}
