// Ways of wires: right angles, past the blocks, next to each other.

export interface Box {
  id: string;
  x: number;
  y: number;
  w: number;
  h: number;
}
export interface WireEnds {
  id: string;
  source: string;
  target: string;
  from: [number, number];
  to: [number, number];
  key: string; // wires of the same source may lie on each other
}
export type Way = [number, number][];

const CLEAR = 7; // around blocks
const STEP = 9;
const STUB = 16; // straight part at a port
const PILL = 58; // space for the value near the source
const CROSSING = 60;
const ON_TOP = 14;

interface Used {
  key: string;
  at: number;
  low: number;
  high: number;
}

/** How many blocks a straight piece passes through. */
function through(a: [number, number], b: [number, number], boxes: readonly Box[]): number {
  const [x0, x1] = [Math.min(a[0], b[0]), Math.max(a[0], b[0])];
  const [y0, y1] = [Math.min(a[1], b[1]), Math.max(a[1], b[1])];
  let count = 0;
  for (const box of boxes) {
    if (x1 > box.x - CLEAR && x0 < box.x + box.w + CLEAR && y1 > box.y - CLEAR && y0 < box.y + box.h + CLEAR) count++;
  }
  return count;
}

function overlap(used: readonly Used[], key: string, at: number, a: number, b: number): number {
  const [low, high] = [Math.min(a, b), Math.max(a, b)];
  return used.filter((u) => u.key !== key && Math.abs(u.at - at) < 5 && u.low < high && u.high > low).length;
}

/** The way of each wire: as few blocks crossed as possible, then few corners and short. */
export function routes(wires: readonly WireEnds[], boxes: readonly Box[]): Map<string, Way> {
  const vertical: Used[] = [];
  const level: Used[] = [];
  const found = new Map<string, Way>();
  const top = Math.min(...boxes.map((b) => b.y), 0) - 24;
  const bottom = Math.max(...boxes.map((b) => b.y + b.h), 0) + 24;
  const ordered = [...wires].sort((a, b) => length(a) - length(b));
  for (const wire of ordered) {
    // a stub touches its own blocks; the rest of the way may not
    const cost = (way: Way): number => {
      let sum = 8 * (way.length - 2);
      for (let i = 0; i + 1 < way.length; i++) {
        const [a, b] = [way[i]!, way[i + 1]!];
        const skip = i === 0 ? wire.source : i === way.length - 2 ? wire.target : "";
        sum += CROSSING * through(a, b, boxes.filter((box) => box.id !== skip));
        sum += 0.02 * (Math.abs(a[0] - b[0]) + Math.abs(a[1] - b[1]));
        if (a[0] === b[0]) sum += ON_TOP * overlap(vertical, wire.key, a[0], a[1], b[1]);
        else sum += ON_TOP * overlap(level, wire.key, a[1], a[0], b[0]);
      }
      return sum;
    };
    const [sx, sy] = wire.from;
    const [tx, ty] = wire.to;
    let best: Way = [wire.from, wire.to];
    let least = Infinity;
    const consider = (way: Way, more = 0): void => {
      const c = cost(way) + more;
      if (c < least) [best, least] = [way, c];
    };
    if (tx > sx && Math.abs(sy - ty) < 1) consider([wire.from, wire.to]);
    for (let x = sx + STUB; x <= tx - STUB; x += STEP) consider([wire.from, [x, sy], [x, ty], wire.to], x < sx + PILL ? 5 : 0);
    if (least >= CROSSING) {
      for (let n = 0; n < 5; n++) {
        for (let k = 0; k < 5; k++) {
          const [a, b] = [sx + STUB + n * STEP, tx - STUB - k * STEP];
          for (let y = top; y <= bottom; y += 11) consider([wire.from, [a, sy], [a, y], [b, y], [b, ty], wire.to]);
        }
      }
    }
    best.forEach((point, i) => {
      const next = best[i + 1];
      if (!next) return;
      if (point[0] === next[0]) vertical.push({ key: wire.key, at: point[0], low: Math.min(point[1], next[1]), high: Math.max(point[1], next[1]) });
      else level.push({ key: wire.key, at: point[1], low: Math.min(point[0], next[0]), high: Math.max(point[0], next[0]) });
    });
    found.set(wire.id, best);
  }
  return found;
}

function length(wire: WireEnds): number {
  return Math.abs(wire.to[0] - wire.from[0]) + Math.abs(wire.to[1] - wire.from[1]);
}

/** The path of a way with round corners, as SVG. The ends may have moved since it was found. */
export function pathOf(way: Way, from: [number, number], to: [number, number], radius = 7): string {
  const points: Way = way.map((p) => [...p]);
  if (points.length === 2 && Math.abs(from[1] - to[1]) > 0.5) points.splice(1, 0, [(from[0] + to[0]) / 2, from[1]], [(from[0] + to[0]) / 2, to[1]]);
  points[0] = from;
  points[points.length - 1] = to;
  if (points.length > 2) {
    points[1]![1] = from[1];
    points[points.length - 2]![1] = to[1];
  }
  let d = `M${from[0]} ${from[1]}`;
  for (let i = 1; i < points.length - 1; i++) {
    const [a, b, c] = [points[i - 1]!, points[i]!, points[i + 1]!];
    const before = Math.hypot(b[0] - a[0], b[1] - a[1]);
    const after = Math.hypot(c[0] - b[0], c[1] - b[1]);
    const r = Math.min(radius, before / 2, after / 2);
    if (r < 0.1) {
      d += `L${b[0]} ${b[1]}`;
      continue;
    }
    const p = [b[0] + ((a[0] - b[0]) / before) * r, b[1] + ((a[1] - b[1]) / before) * r];
    const q = [b[0] + ((c[0] - b[0]) / after) * r, b[1] + ((c[1] - b[1]) / after) * r];
    d += `L${p[0]} ${p[1]}Q${b[0]} ${b[1]} ${q[0]} ${q[1]}`;
  }
  return `${d}L${to[0]} ${to[1]}`;
}
