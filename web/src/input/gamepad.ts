// A gamepad through the browser's API: mode 2, left stick throttle and yaw, right stick pitch and roll.
import { say } from "../state/toasts.ts";
import { act, is, operate } from "../state/studio.ts";
import { ui } from "../state/ui.ts";
import { setStick } from "./sticks.ts";

const DEAD = 0.08; // around the middle, where a worn stick rests
const POLL_MS = 16;
const BUTTONS: Record<number, () => void> = {
  0: () => void operate({ arm: !is("armed") }), // lower button
  9: () => void act({ type: "run", on: !is("running") }), // start
};

const before = new Map<number, boolean>();
let moved = false;

function live(value: number | undefined): number {
  const v = value ?? 0;
  return Math.abs(v) < DEAD ? 0 : Math.sign(v) * ((Math.abs(v) - DEAD) / (1 - DEAD));
}

function poll(): void {
  const pad = navigator.getGamepads?.().find((p) => p?.connected);
  if (!pad) return;
  const [lx, ly, rx, ry] = [live(pad.axes[0]), -live(pad.axes[1]), live(pad.axes[2]), -live(pad.axes[3])];
  const active = Math.abs(lx) + Math.abs(ly) + Math.abs(rx) + Math.abs(ry) > 0.15;
  if (active && ui.value.input !== "gamepad") {
    ui.set({ input: "gamepad" });
    say("Gamepad in use");
  }
  if (ui.value.input === "gamepad" && (active || moved)) {
    setStick("left", lx, ly);
    setStick("right", rx, ry);
    moved = active;
  }
  for (const [index, run] of Object.entries(BUTTONS)) {
    const i = Number(index);
    const on = pad.buttons[i]?.pressed ?? false;
    if (on && !before.get(i)) run();
    before.set(i, on);
  }
}

export function watchGamepads(): void {
  window.setInterval(poll, POLL_MS);
}

export function gamepadName(): string | null {
  return navigator.getGamepads?.().find((p) => p?.connected)?.id ?? null;
}
