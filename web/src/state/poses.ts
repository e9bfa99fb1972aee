// Where all bodies were, over time, and where the vehicle believed to be.

const ESTIMATE = 7;

/** Rows of poses: for each body position and quaternion (w, x, y, z), then those of the estimate. */
export class Poses {
  times: Float64Array;
  data: Float32Array;
  rows = 0;
  readonly width: number;
  private readonly room: number;

  constructor(readonly bodies: number, readonly capacity: number) {
    this.width = bodies * 7 + ESTIMATE;
    this.room = Math.ceil(capacity * 1.25);
    this.times = new Float64Array(this.room);
    this.data = new Float32Array(this.room * this.width);
  }

  append(t: number, poses: Float32Array, estimate: Float32Array | null): void {
    while (this.rows && t <= this.times[this.rows - 1]!) this.rows--;
    if (this.rows === this.room) {
      const drop = this.rows - this.capacity;
      this.times.copyWithin(0, drop, this.rows);
      this.data.copyWithin(0, drop * this.width, this.rows * this.width);
      this.rows -= drop;
    }
    this.times[this.rows] = t;
    const at = this.rows * this.width;
    this.data.set(poses, at);
    if (estimate) this.data.set(estimate, at + this.bodies * 7);
    else this.data.fill(NaN, at + this.bodies * 7, at + this.width);
    this.rows++;
  }

  /** Rows from before those that are here; `flat` has all bodies of one time after the other. The estimate is not known. */
  prepend(times: Float64Array, flat: Float32Array): void {
    const kept = this.rows;
    const first = kept ? this.times[0]! : Infinity;
    let count = 0;
    while (count < times.length && times[count]! < first) count++;
    const take = Math.min(count, this.capacity - kept);
    if (take <= 0) return;
    const own = this.bodies * 7;
    this.times.copyWithin(take, 0, kept);
    this.data.copyWithin(take * this.width, 0, kept * this.width);
    for (let i = 0; i < take; i++) {
      const from = count - take + i;
      this.times[i] = times[from]!;
      this.data.set(flat.subarray(from * own, (from + 1) * own), i * this.width);
      this.data.fill(NaN, i * this.width + own, (i + 1) * this.width);
    }
    this.rows = take + kept;
  }

  /** The last row at t or earlier. */
  indexAt(t: number): number {
    let low = 0;
    let high = this.rows;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.times[middle]! <= t + 1e-9) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }

  pose(row: number, body: number): Float32Array {
    const at = row * this.width + body * 7;
    return this.data.subarray(at, at + 7);
  }

  estimate(row: number): Float32Array {
    return this.pose(row, this.bodies);
  }
}
