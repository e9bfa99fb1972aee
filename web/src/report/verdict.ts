// What the readings at rest say about a parameter of a sensor.
import type * as M from "../messages.ts";

const AGREE_SIGMAS = 4; // of a value from the data: further away once in 16000
const EDITED = 1.5; // times the value of the data sheet: specimens differ less

type Verdict = readonly [badge: string, text: string];

/** What the readings say about a parameter that was set, and whether it is what the data sheet has. */
export function verdict({ value, sigma, truth, sheet }: M.Measured): Verdict {
  if (value !== null && sigma !== null && truth !== null && Math.abs(value - truth) > AGREE_SIGMAS * sigma) return ["err", "differs"];
  if (sheet !== null && truth !== null && (truth > EDITED * sheet || truth < sheet / EDITED)) return ["warn", "edited"];
  if (value !== null) return ["ok", "agrees"];
  return ["", sheet === null ? "no figure" : "as the sheet"];
}
