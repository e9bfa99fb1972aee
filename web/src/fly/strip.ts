// A strip chart: uPlot for axes, scales and canvas; lines are drawn from the samples without copying them.
import uPlot from "uplot";
import { rem, token } from "../scene/colours.ts";
import type { Samples } from "../state/samples.ts";
import { decimalsOfStep, fixed } from "../state/format.ts";
import type { ChartLine, ChartModel } from "./chart-lines.ts";
import { oscillation, trace, type Oscillation } from "./traces.ts";

export interface Span {
  from: number;
  to: number;
  text: string;
}
export interface Mark {
  t: number;
  text: string;
}
export interface StripView {
  from: number;
  to: number;
  cursor: number;
  spans: readonly Span[];
  marks: readonly Mark[];
}

const LEFT = 34;

export class Strip {
  readonly plot: uPlot;
  private low = Infinity;
  private high = -Infinity;
  private view: StripView = { from: 0, to: 1, cursor: 0, spans: [], marks: [] };
  private rows: [number, number] = [0, 0];
  private scale = 1;
  private readonly fast = new Map<ChartLine, Oscillation>();
  private since = -Infinity; // earlier samples do not widen the range

  constructor(host: HTMLElement, private readonly model: ChartModel, private readonly samples: () => Samples, private readonly axis: boolean) {
    const box = host.getBoundingClientRect();
    this.plot = new uPlot(this.options(box.width, box.height), [[], ...model.lines.map(() => [])] as unknown as uPlot.AlignedData, host);
  }

  private options(width: number, height: number): uPlot.Options {
    const scale = rem() / 16;
    this.scale = scale;
    const font = `${11 * scale}px ${token("font-ui")}`;
    const grid = { stroke: token("grid"), width: 1 };
    const axis: uPlot.Axis = { stroke: token("text-3"), font, grid, ticks: { show: false }, gap: 5 };
    return {
      width: Math.max(10, width),
      height: Math.max(10, height),
      legend: { show: false },
      cursor: { show: false },
      padding: [6 * scale, 6 * scale, this.axis ? 0 : 6 * scale, 0],
      scales: { x: { time: false, auto: false }, y: { auto: false } },
      axes: [
        {
          ...axis,
          size: this.axis ? 22 * scale : 0,
          space: 70 * scale,
          values: (_, splits) => splits.map((t) => (this.axis ? `${fixed(t, t % 1 ? 1 : 0)} s` : "")),
        },
        {
          ...axis,
          size: LEFT * scale,
          space: 17 * scale,
          values: (_, splits) => {
            const step = splits.length > 1 ? Math.abs(splits[1]! - splits[0]!) : 1;
            return splits.map((v) => fixed(v, decimalsOfStep(step)));
          },
        },
      ],
      series: [{}, ...this.model.lines.map((line) => ({ stroke: () => (line.tint ? towardsTruth(token(line.colour)) : token(line.colour)), width: line.width * scale, alpha: line.alpha, paths: this.path, points: { show: false } }))],
      hooks: { drawAxes: [() => this.under()], draw: [() => this.over()] },
    };
  }

  /** Draw the samples of a time range. */
  draw(view: StripView): void {
    this.view = view;
    const samples = this.samples();
    const first = Math.max(0, samples.indexAfter(view.from) - 1);
    const last = Math.min(samples.rows, samples.indexAfter(view.to) + 1);
    this.rows = [first, last];
    this.widen(samples, first, last);
    const { plot } = this;
    const times = samples.times.subarray(first, last);
    const none = new Float32Array(0);
    plot.batch(() => {
      plot.setData(
        [times, ...this.model.lines.map((line) => samples.column(line.signal, line.part)?.subarray(first, last) ?? none)] as unknown as uPlot.AlignedData,
        false,
      );
      plot.setScale("x", { min: view.from, max: view.to });
      const [low, high] = this.range();
      plot.setScale("y", { min: low, max: high });
    });
  }

  /** The vertical range, with a margin; a flat line gets a range of its own. */
  private range(): [number, number] {
    if (!(this.high >= this.low)) return [-1, 1];
    const size = Math.max(this.high - this.low, 1e-9, 1e-3 * Math.max(Math.abs(this.low), Math.abs(this.high)), this.low === this.high ? 1 : 0);
    const middle = (this.high + this.low) / 2;
    return [middle - 0.57 * size, middle + 0.57 * size];
  }

  private widen(samples: Samples, from: number, last: number): void {
    const first = Math.max(from, samples.indexAfter(this.since));
    for (const line of this.model.lines) {
      const column = samples.column(line.signal, line.part);
      if (!column) continue;
      for (let i = first; i < last; i++) {
        const v = column[i]! * line.factor;
        if (v < this.low) this.low = v;
        if (v > this.high) this.high = v;
      }
    }
    const { band } = this.model;
    const sigma = band && samples.column(band.signal, band.part);
    if (!sigma) return;
    // an unknown heading has a band of hundreds of degrees: it may be cut
    const most = 4 * Math.max(this.high, -this.low, 0.1);
    for (let i = first; i < last; i++) {
      const v = Math.min(most, sigma[i]! * band.factor);
      if (v > this.high) this.high = v;
      if (-v < this.low) this.low = -v;
    }
  }

  /** Let the ranges shrink to what is shown. */
  fit(since = -Infinity): void {
    this.since = since;
    this.low = Infinity;
    this.high = -Infinity;
  }

  private path = (u: uPlot, series: number): uPlot.Series.Paths => {
    const line = this.model.lines[series - 1]!;
    const stroke = this.fast.get(line)?.mean ?? trace(u, this.samples(), line, this.rows);
    return { stroke, fill: null, clip: undefined } as unknown as uPlot.Series.Paths;
  };

  /** Signals that oscillate faster than the chart has pixels: the stretch between lowest and highest as an area. */
  private bands(ctx: CanvasRenderingContext2D): void {
    this.fast.clear();
    for (const line of this.model.lines) {
      const band = oscillation(this.plot, this.samples(), line, this.rows);
      if (!band) continue;
      this.fast.set(line, band);
      ctx.fillStyle = token(line.colour);
      ctx.globalAlpha = line.role === "truth" ? 0.16 : 0.4;
      ctx.fill(band.area);
    }
    ctx.globalAlpha = 1;
  }

  private under(): void {
    const { ctx, bbox } = this.plot;
    const { spans } = this.view;
    const x = (t: number): number => this.plot.valToPos(t, "x", true);
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    for (const span of spans) {
      const [a, b] = [x(span.from), x(Math.min(span.to, this.view.to))];
      if (b < bbox.left || a > bbox.left + bbox.width) continue;
      ctx.fillStyle = token("error-soft");
      ctx.globalAlpha = 0.6;
      ctx.fillRect(a, bbox.top, b - a, bbox.height);
      ctx.globalAlpha = 0.5;
      hatch(ctx, a, bbox.top, b - a, bbox.height, token("error"), 7 * devicePixelRatio * this.scale);
      ctx.globalAlpha = 1;
    }
    this.sigmaBand(ctx);
    this.bands(ctx);
    ctx.restore();
  }

  private sigmaBand(ctx: CanvasRenderingContext2D): void {
    const { band } = this.model;
    const samples = this.samples();
    const sigma = band && samples.column(band.signal, band.part);
    if (!sigma) return;
    const [first, last] = this.rows;
    const upper = trace(this.plot, samples, band, [first, last]);
    const lower = trace(this.plot, samples, { ...band, factor: -band.factor }, [first, last]);
    const area = new Path2D(upper);
    const back: [number, number][] = [];
    const step = Math.max(1, Math.floor((last - first) / this.plot.bbox.width));
    for (let i = last - 1; i >= first; i -= step) {
      if (Number.isFinite(sigma[i]!)) back.push([this.plot.valToPos(samples.times[i]!, "x", true), this.plot.valToPos(-band.factor * sigma[i]!, "y", true)]);
    }
    for (const [x, y] of back) area.lineTo(x, y);
    ctx.fillStyle = token("band");
    ctx.fill(area);
    ctx.strokeStyle = token("estimate");
    ctx.globalAlpha = 0.6;
    ctx.lineWidth = devicePixelRatio * this.scale;
    ctx.setLineDash([4 * devicePixelRatio, 3 * devicePixelRatio]);
    ctx.stroke(upper);
    ctx.stroke(lower);
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
  }

  private over(): void {
    const { ctx, bbox } = this.plot;
    const { spans, marks, cursor, from, to } = this.view;
    const k = devicePixelRatio * this.scale;
    const x = (t: number): number => Math.round(this.plot.valToPos(t, "x", true)) + 0.5;
    const words = (text: string, at: number, colour: string): void => {
      ctx.font = `${11 * k}px ${token("font-ui")}`;
      ctx.textBaseline = "top";
      const left = Math.min(at + 4 * k, bbox.left + bbox.width - ctx.measureText(text).width);
      ctx.lineWidth = 3 * k;
      ctx.strokeStyle = token("plot");
      ctx.strokeText(text, left, bbox.top + 2 * k);
      ctx.fillStyle = colour;
      ctx.fillText(text, left, bbox.top + 2 * k);
    };
    ctx.save();
    ctx.textAlign = "left";
    for (const span of spans) if (span.text && span.to >= from && span.from <= to) words(span.text, Math.max(x(span.from), bbox.left), token("error"));
    for (const mark of marks) {
      if (mark.t < from || mark.t > to) continue;
      ctx.strokeStyle = token("accent");
      ctx.lineWidth = k;
      ctx.setLineDash([2 * k, 3 * k]);
      ctx.beginPath();
      ctx.moveTo(x(mark.t), bbox.top);
      ctx.lineTo(x(mark.t), bbox.top + bbox.height);
      ctx.stroke();
      ctx.setLineDash([]);
      if (mark.text) words(mark.text, x(mark.t), token("accent"));
    }
    if (cursor >= from && cursor <= to) this.cursor(ctx, x(cursor), k);
    ctx.restore();
  }

  private cursor(ctx: CanvasRenderingContext2D, at: number, k: number): void {
    const { bbox, height } = this.plot;
    ctx.strokeStyle = token("accent");
    ctx.lineWidth = Math.max(1, Math.round(k));
    ctx.beginPath();
    ctx.moveTo(at, 0);
    ctx.lineTo(at, height * devicePixelRatio);
    ctx.stroke();
    if (!this.axis) return;
    const text = `${fixed(this.view.cursor, 2)} s`;
    ctx.font = `${11 * k}px ${token("font-ui")}`;
    const width = ctx.measureText(text).width + 12 * k;
    const left = Math.min(Math.max(0, at - width / 2), bbox.left + bbox.width + 6 * k - width);
    const top = bbox.top + bbox.height + 3 * k;
    ctx.fillStyle = token("accent-fill");
    ctx.beginPath();
    ctx.roundRect(left, top, width, 17 * k, 4 * k);
    ctx.fill();
    ctx.fillStyle = token("on-accent");
    ctx.textBaseline = "middle";
    ctx.fillText(text, left + 6 * k, top + 9 * k);
  }

  resize(width: number, height: number): void {
    if (width > 10 && height > 10) this.plot.setSize({ width, height });
  }

  /** The time under a point, px from the left edge of the chart. */
  timeAt(left: number): number {
    return this.plot.posToVal(left - this.plot.bbox.left / devicePixelRatio, "x");
  }

  destroy(): void {
    this.plot.destroy();
  }
}

/** The hue of an axis, lighter (darker on light): truth among three axes. */
function towardsTruth(hue: string): string {
  const part = (text: string, i: number): number => parseInt(text.slice(1 + 2 * i, 3 + 2 * i), 16);
  const truth = token("truth");
  return `rgb(${[0, 1, 2].map((i) => Math.round(0.4 * part(hue, i) + 0.6 * part(truth, i))).join()})`;
}

function hatch(ctx: CanvasRenderingContext2D, x: number, y: number, w: number, h: number, colour: string, step: number): void {
  ctx.save();
  ctx.beginPath();
  ctx.rect(x, y, w, h);
  ctx.clip();
  ctx.strokeStyle = colour;
  ctx.globalAlpha *= 0.7;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (let at = -h; at < w; at += step) {
    ctx.moveTo(x + at, y + h);
    ctx.lineTo(x + at + h, y);
  }
  ctx.stroke();
  ctx.restore();
}
