// Paths of lines through samples, in pixels of a chart.
import type uPlot from "uplot";
import type { Samples } from "../state/samples.ts";

const GAP_S = 1; // without a value: the line is broken
const BIN_PX = 2;
const MEAN_BINS = 4; // on each side of the mean of an oscillation
const FAST_PX = 5; // height of an oscillation within a bin, from which it is an area

/** A number of a signal over time, in the unit of the chart. */
export interface Traced {
  signal: string;
  part: number;
  factor: number;
  wraps?: boolean; // 359 deg is next to 0 deg
}

export interface Oscillation {
  area: Path2D; // between the lowest and the highest value
  mean: Path2D;
}

type Rows = readonly [first: number, last: number];
type Place = (value: number) => number;

function places(u: uPlot): { px: Place; py: Place; perPx: number } {
  const x = u.scales.x!;
  const y = u.scales.y!;
  const { left, top, width, height } = u.bbox;
  const kx = width / (x.max! - x.min!);
  const ky = height / (y.max! - y.min!);
  return { px: (t) => left + (t - x.min!) * kx, py: (v) => top + (y.max! - v) * ky, perPx: 1 / kx };
}

/** A line through samples: every sample where there are few, the lowest and highest of each pixel where there are many. */
export function trace(u: uPlot, samples: Samples, { signal, part, factor, wraps }: Traced, [first, last]: Rows): Path2D {
  const path = new Path2D();
  const column = samples.column(signal, part);
  if (!column) return path;
  const { times } = samples;
  const { px, py } = places(u);
  const dense = last - first > 2 * u.bbox.width;
  let open = false;
  let at = -1;
  let low = 0;
  let high = 0;
  let end = 0;
  let before = NaN;
  let known = -Infinity; // time of the last value
  const flush = (): void => {
    if (at < 0) return;
    if (open) path.lineTo(at, py(low));
    else path.moveTo(at, py(low));
    if (high !== low) path.lineTo(at, py(high));
    if (end !== high) path.lineTo(at, py(end));
    open = true;
    at = -1;
  };
  for (let i = first; i < last; i++) {
    const v = column[i]! * factor;
    // slow sensors have no value in most rows: the line goes on, unless the gap is long
    if (v !== v) continue;
    if (times[i]! - known > GAP_S || (wraps && Math.abs(v - before) > 180)) {
      flush();
      open = false;
    }
    known = times[i]!;
    before = v;
    if (!dense) {
      if (open) path.lineTo(px(times[i]!), py(v));
      else path.moveTo(px(times[i]!), py(v));
      open = true;
      continue;
    }
    const here = Math.round(px(times[i]!));
    if (here !== at) {
      flush();
      at = here;
      low = high = end = v;
    } else {
      if (v < low) low = v;
      if (v > high) high = v;
      end = v;
    }
  }
  flush();
  return path;
}

/** Lowest, highest and mean value of stretches of time. The stretches stay where they are while the chart moves on. */
export function bins(times: ArrayLike<number>, column: ArrayLike<number>, [first, last]: Rows, binS: number): { t: number; low: number; high: number; mean: number }[] {
  const list: { t: number; low: number; high: number; mean: number; count: number }[] = [];
  let at = NaN;
  for (let i = first; i < last; i++) {
    const v = column[i]!;
    if (v !== v) continue;
    const bin = Math.floor(times[i]! / binS);
    const now = list.at(-1);
    if (bin !== at || !now) {
      at = bin;
      list.push({ t: (bin + 0.5) * binS, low: v, high: v, mean: v, count: 1 });
      continue;
    }
    if (v < now.low) now.low = v;
    if (v > now.high) now.high = v;
    now.mean += (v - now.mean) / ++now.count;
  }
  return list;
}

/** The area and the mean of a signal that oscillates faster than the chart can show; null if it does not. */
export function oscillation(u: uPlot, samples: Samples, { signal, part, factor, wraps }: Traced, rows: Rows): Oscillation | null {
  const column = samples.column(signal, part);
  const { px, py, perPx } = places(u);
  const width = BIN_PX * devicePixelRatio;
  if (!column || wraps || rows[1] - rows[0] < (2 * u.bbox.width) / width) return null;
  const list = bins(samples.times, column, rows, width * perPx);
  const height = list.reduce((sum, bin) => sum + Math.abs(py(bin.high * factor) - py(bin.low * factor)), 0) / list.length;
  if (!(height > FAST_PX * devicePixelRatio)) return null;
  const [area, mean] = [new Path2D(), new Path2D()];
  const step = (list: readonly number[], path: Path2D, i: number, y: number): void => (i === 0 ? path.moveTo(list[i]!, y) : path.lineTo(list[i]!, y));
  const x = list.map((bin) => px(bin.t));
  list.forEach((bin, i) => step(x, area, i, py(bin.high * factor)));
  for (let i = list.length - 1; i >= 0; i--) area.lineTo(x[i]!, py(list[i]!.low * factor));
  area.closePath();
  list.forEach((_, i) => {
    const near = list.slice(Math.max(0, i - MEAN_BINS), i + MEAN_BINS + 1);
    step(x, mean, i, py((factor * near.reduce((sum, bin) => sum + bin.mean, 0)) / near.length));
  });
  return { area, mean };
}
