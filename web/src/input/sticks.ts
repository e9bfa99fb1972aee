// Positions of the sticks from keys, screen or gamepad. The page shows them at once and sends them on.
import { Store } from "../state/store.ts";
import { moveSticks, world } from "../state/studio.ts";

export interface StickState {
  left: [number, number]; // right and up, -1 to 1
  right: [number, number];
}

export const sticks = new Store<StickState>({ left: [0, 0], right: [0, 0] });

/** Which control of the console each axis of the sticks moves, and its sign. */
export function assignment(controls: readonly string[]): { leftX: string | null; leftY: string | null; rightX: string | null; rightY: string | null } {
  if (controls.includes("drive")) return { leftX: null, leftY: null, rightX: "turn", rightY: "drive" };
  const one = (name: string): string | null => (controls.includes(name) ? name : null);
  return { leftX: one("yaw"), leftY: one("throttle"), rightX: one("roll"), rightY: one("pitch") };
}

/** Signs between stick and console: yaw and turn count to the left, as rotations about z up do; pitch stick forward is nose down. */
export const SIGNS: Record<string, number> = { yaw: -1, turn: -1, pitch: 1, roll: 1, throttle: 1, drive: 1 };

const round = (v: number): number => Math.round(Math.min(1, Math.max(-1, v)) * 1000) / 1000;

export function setStick(side: "left" | "right", x: number, y: number): void {
  const at: [number, number] = [round(x), round(y)];
  const before = sticks.value[side];
  if (before[0] === at[0] && before[1] === at[1]) return;
  sticks.set(side === "left" ? { left: at } : { right: at });
  const names = assignment(world.value.session?.controls ?? []);
  const [forX, forY] = side === "left" ? [names.leftX, names.leftY] : [names.rightX, names.rightY];
  const changes: Record<string, number> = {};
  if (forX) changes[forX] = at[0] * (SIGNS[forX] ?? 1) || 0;
  if (forY) changes[forY] = at[1] * (SIGNS[forY] ?? 1) || 0;
  if (Object.keys(changes).length) moveSticks(changes);
}

export function centre(): void {
  setStick("left", 0, 0);
  setStick("right", 0, 0);
}
