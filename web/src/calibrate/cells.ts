// Cells of the sphere of directions: bands about z, each divided evenly. The server sends their middles.

export interface Cell {
  middle: readonly number[]; // unit vector
  seen: boolean;
  around: [number, number]; // angle about z, rad
  z: [number, number];
}

/** Cells with their edges, from the middles that were seen and those that were not. */
export function cellsOf(covered: readonly number[][], missing: readonly number[][]): Cell[] {
  const all = [...covered.map((middle) => ({ middle, seen: true })), ...missing.map((middle) => ({ middle, seen: false }))];
  const bands = new Map<string, typeof all>();
  for (const cell of all) {
    const key = cell.middle[2]!.toFixed(3);
    bands.set(key, [...(bands.get(key) ?? []), cell]);
  }
  let edge = -1;
  return [...bands.values()]
    .sort((a, b) => a[0]!.middle[2]! - b[0]!.middle[2]!)
    .flatMap((band) => {
      const low = edge;
      edge = Math.min(1, 2 * band[0]!.middle[2]! - low); // the middle is half way between the edges
      const half = Math.PI / band.length;
      return band.map(({ middle, seen }): Cell => {
        const angle = Math.atan2(middle[1]!, middle[0]!);
        return { middle, seen, around: [angle - half, angle + half], z: [low, edge] };
      });
    });
}

const STEPS = 5; // pieces of an edge

/** Points around the border of a cell, unit vectors. */
export function border({ around: [a, b], z: [low, high] }: Cell): [number, number, number][] {
  const at = (angle: number, z: number): [number, number, number] => {
    const flat = Math.sqrt(Math.max(0, 1 - z * z));
    return [flat * Math.cos(angle), flat * Math.sin(angle), z];
  };
  const list: [number, number, number][] = [];
  for (let i = 0; i <= STEPS; i++) list.push(at(a + ((b - a) * i) / STEPS, low));
  for (let i = 0; i <= STEPS; i++) list.push(at(b + ((a - b) * i) / STEPS, high));
  return list;
}

/** The cell that was not seen and is nearest to a direction; null if all were seen. */
export function nearestMissing(cells: readonly Cell[], now: readonly number[]): Cell | null {
  let best: Cell | null = null;
  let most = -Infinity;
  for (const cell of cells) {
    const along = cell.middle.reduce((sum, v, k) => sum + v * now[k]!, 0);
    if (!cell.seen && along > most) [best, most] = [cell, along];
  }
  return best;
}

/** Middles of cells in bands of equal height, about so many. */
export function evenly(count: number): number[][] {
  const bands = Math.round(Math.sqrt(count));
  return Array.from({ length: bands }, (_, b) => {
    const z = -1 + (2 * b + 1) / bands;
    const flat = Math.sqrt(1 - z * z);
    const cells = Math.max(4, Math.round((count / bands) * flat * 1.25));
    return Array.from({ length: cells }, (_, k) => {
      const angle = (2 * Math.PI * (k + 0.5)) / cells;
      return [flat * Math.cos(angle), flat * Math.sin(angle), z];
    });
  }).flat();
}
