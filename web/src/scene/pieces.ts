// The straight pieces of a path. A processor that draws in place of a graphics card takes most of its time for the
// pieces of the trail, and most points of a path lie on a straight line or in one place.
import { Vector3 } from "three";

export type Point = (i: number, into: Vector3) => boolean;

/**
 * Ends of straight pieces, six numbers each, that follow the points as closely as 2 * wide. Returns how many.
 * point(i): the i-th point; false for a gap.
 */
export function straightPieces(count: number, point: Point, into: Float32Array, wide: number): number {
  const most = Math.floor(into.length / 6);
  const [from, last, along, now, step] = [new Vector3(), new Vector3(), new Vector3(), new Vector3(), new Vector3()];
  let n = 0;
  let begun = false;
  let reach = 0; // how far the piece goes along its direction; 0: it has none yet
  const end = (): void => {
    if (begun && n < most && !from.equals(last)) into.set([from.x, from.y, from.z, last.x, last.y, last.z], 6 * n++);
    from.copy(last);
    reach = 0;
  };
  for (let i = 0; i < count && n < most; i++) {
    if (!point(i, now)) {
      end();
      begun = false;
      continue;
    }
    if (!begun) {
      from.copy(now);
      begun = true;
    } else {
      step.copy(now).sub(from);
      const forward = step.dot(along);
      const aside = Math.sqrt(Math.max(0, step.lengthSq() - forward * forward));
      if (reach > 0 && (aside > wide || forward < reach - wide)) {
        end();
        step.copy(now).sub(from);
      }
      if (reach > 0) reach = Math.max(reach, forward);
      else if (step.length() > wide) {
        reach = step.length();
        along.copy(step).divideScalar(reach);
      }
    }
    last.copy(now);
  }
  end();
  return n;
}
