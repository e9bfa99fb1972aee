// Samples of the subscribed signals over time: one table with a common time column and one column per number.
import type { Signal } from "../messages.ts";

/** One number of a signal over time. */
export interface Column {
  signal: string;
  part: number;
  values: Float32Array;
}

/** Rows up to a number of them; the oldest are dropped. The arrays are contiguous, so that charts take parts of them. */
export class Samples {
  times: Float64Array;
  rows = 0;
  private columns = new Map<string, Float32Array[]>();
  private readonly room: number;

  constructor(readonly capacity: number) {
    this.room = Math.ceil(capacity * 1.25);
    this.times = new Float64Array(this.room);
  }

  /** The signals that frames bring from now on. What is known of the others is dropped. */
  carry(signals: readonly Signal[]): void {
    const kept = new Map<string, Float32Array[]>();
    for (const signal of signals) {
      const known = this.columns.get(signal.name);
      kept.set(signal.name, known?.length === signal.size ? known : this.unknown(signal.size));
    }
    this.columns = kept;
  }

  private unknown(size: number): Float32Array[] {
    return Array.from({ length: size }, () => new Float32Array(this.room).fill(NaN));
  }

  has(signal: string): boolean {
    return this.columns.has(signal);
  }

  column(signal: string, part = 0): Float32Array | undefined {
    return this.columns.get(signal)?.[part];
  }

  get last(): number {
    return this.rows ? this.times[this.rows - 1]! : NaN;
  }

  get first(): number {
    return this.rows ? this.times[0]! : NaN;
  }

  clear(): void {
    this.rows = 0;
  }

  /** Drop all rows at this time or later: the simulation was rewound. */
  cut(t: number): void {
    this.rows = this.indexAfter(t - 1e-9);
  }

  /** Add rows of a frame: `flat` has the numbers of one signal after the other, each r x size. */
  append(times: Float64Array, order: readonly Signal[], flat: Float32Array): void {
    const r = times.length;
    if (r === 0) return;
    if (this.rows && times[0]! <= this.last) this.cut(times[0]!);
    if (this.rows + r > this.room) this.drop(Math.min(this.rows, this.rows + r - this.capacity));
    const at = this.rows;
    this.times.set(times, at);
    let offset = 0;
    for (const { name, size } of order) {
      const columns = this.columns.get(name);
      for (let part = 0; part < size && columns; part++) {
        const column = columns[part]!;
        for (let i = 0; i < r; i++) column[at + i] = flat[offset + i * size + part]!;
      }
      offset += r * size;
    }
    this.rows = at + r;
  }

  /** Put earlier rows in front; rows that are here already with a later time stay. */
  prepend(times: Float64Array, order: readonly Signal[], flat: Float32Array): void {
    const r = times.length;
    if (r === 0) return;
    const keepFrom = this.indexAfter(times[r - 1]!);
    const kept = this.rows - keepFrom;
    const take = Math.min(r, this.room - kept);
    const shift = (array: Float32Array | Float64Array): void => void array.copyWithin(take, keepFrom, this.rows);
    shift(this.times);
    for (const columns of this.columns.values()) columns.forEach(shift);
    this.times.set(times.subarray(r - take), 0);
    const given = new Set(order.map((signal) => signal.name));
    for (const [name, columns] of this.columns) if (!given.has(name)) columns.forEach((c) => c.fill(NaN, 0, take));
    let offset = 0;
    for (const { name, size } of order) {
      const columns = this.columns.get(name);
      for (let part = 0; part < size && columns; part++) {
        const column = columns[part]!;
        for (let i = 0; i < take; i++) column[i] = flat[offset + (r - take + i) * size + part]!;
      }
      offset += r * size;
    }
    this.rows = take + kept;
  }

  private drop(count: number): void {
    const move = (array: Float32Array | Float64Array): void => void array.copyWithin(0, count, this.rows);
    move(this.times);
    for (const columns of this.columns.values()) columns.forEach(move);
    this.rows -= count;
  }

  /** The first row later than t. */
  indexAfter(t: number): number {
    let low = 0;
    let high = this.rows;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle]! <= t) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The last row at t or earlier; 0 if there is none. */
  indexAt(t: number): number {
    return Math.max(0, this.indexAfter(t + 1e-9) - 1);
  }

  /** Number of a signal at a time; NaN if nothing is known there. */
  valueAt(signal: string, part: number, t: number): number {
    const column = this.column(signal, part);
    if (!column || this.rows === 0 || t < this.first - 1e-9) return NaN;
    // slow sensors have no value in most rows: the last one counts, if it is not old
    for (let i = this.indexAt(t); i >= 0 && this.times[i]! > t - 1; i--) if (column[i]! === column[i]!) return column[i]!;
    return NaN;
  }
}
