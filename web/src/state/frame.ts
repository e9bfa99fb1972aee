// Reads the binary messages of the server: frames and history.
import { FRAME, HEADER, HEADER_BYTES, HISTORY, LAYOUT_VERSION, STATES } from "../messages.ts";

export type StateName = keyof typeof STATES;

export interface Frame {
  kind: typeof FRAME | typeof HISTORY;
  epoch: number;
  sequence: number;
  t: number;
  factor: number;
  speed: number;
  state: number;
  bodies: number;
  take: number;
  dropped: number;
  estimate: Float32Array;
  console: Float32Array;
  times: Float64Array;
  poses: Float32Array;
  samples: Float32Array;
}

/** The numbers of a binary message; null if it is of another layout. */
export function readFrame(buffer: ArrayBuffer): Frame | null {
  if (buffer.byteLength < HEADER_BYTES) return null;
  const view = new DataView(buffer);
  const kind = view.getUint8(HEADER.kind.at);
  if (view.getUint8(HEADER.layout.at) !== LAYOUT_VERSION || (kind !== FRAME && kind !== HISTORY)) return null;
  const bodies = view.getUint16(HEADER.bodies.at, true);
  const rows = view.getUint32(HEADER.rows.at, true);
  let at = HEADER_BYTES;
  const times = new Float64Array(buffer, at, rows);
  at += 8 * rows;
  const poses = new Float32Array(buffer, at, 7 * bodies * (kind === FRAME ? 1 : rows));
  at += poses.byteLength;
  return {
    kind,
    epoch: view.getUint16(HEADER.epoch.at, true),
    sequence: view.getUint32(HEADER.sequence.at, true),
    t: view.getFloat64(HEADER.t_s.at, true),
    factor: view.getFloat32(HEADER.real_time_factor.at, true),
    speed: view.getFloat32(HEADER.speed.at, true),
    state: view.getUint16(HEADER.state.at, true),
    bodies,
    take: view.getUint16(HEADER.take.at, true),
    dropped: view.getUint32(HEADER.dropped.at, true),
    estimate: new Float32Array(buffer, HEADER.estimate.at, HEADER.estimate.count),
    console: new Float32Array(buffer, HEADER.console.at, HEADER.console.count),
    times,
    poses,
    samples: new Float32Array(buffer, at),
  };
}

export function has(state: number, name: StateName): boolean {
  return (state & STATES[name]) !== 0;
}
