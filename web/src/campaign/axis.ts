// The common axis of all cells of a campaign.
import type * as M from "../messages.ts";

const WIDE = 30; // ratio of the largest to the smallest value, beyond which the axis is logarithmic

export interface Axis {
  from: number;
  to: number;
  log: boolean;
  low: string;
  high: string;
}

export function axisOf(state: M.CampaignState): Axis {
  if (state.flag) return { from: 0, to: 1, log: false, low: "0", high: "100 %" };
  const values = state.cells.flatMap((cell) => [...cell.quantiles, ...(cell.interval ?? [])]).filter((value) => Number.isFinite(value));
  const from = Math.min(...values, Infinity);
  const to = Math.max(...values, -Infinity);
  if (!Number.isFinite(from) || from === to) return { from: 0, to: 1, log: false, low: "0", high: "1" };
  const log = from > 0 && to > WIDE * from;
  return { from, to, log, low: from.toPrecision(3), high: to.toPrecision(3) };
}

/** Where a value is on the axis, from 0 to 1. */
export function place(axis: Axis, value: number): number {
  const f = axis.log ? Math.log(Math.max(value, axis.from) / axis.from) / Math.log(axis.to / axis.from) : (value - axis.from) / (axis.to - axis.from);
  return Math.min(1, Math.max(0, f));
}

export function duration(s: number): string {
  if (s < 120) return `${s.toFixed(0)} s`;
  return s < 7200 ? `${(s / 60).toFixed(0)} min` : `${(s / 3600).toFixed(1)} h`;
}
