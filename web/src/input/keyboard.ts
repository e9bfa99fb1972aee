// Keys: sticks while they are held, and single keys for actions. They act only when the focus is not in a field.
import { act, is, operate, toggleRecording, world } from "../state/studio.ts";
import { say, toast } from "../state/toasts.ts";
import { backToLive, continueFromHere, lookAt, show, shownTime, ui, type Camera } from "../state/ui.ts";
import { centre, setStick } from "./sticks.ts";

const STEP = 0.6; // of the way that a key moves a stick; Shift: all of it
const HOLD_MS = 500;
const VIEWS = { "1": "fly", "2": "diagram", "3": "calibrate", "4": "report", "5": "campaign" } as const;
const STICK_KEYS = ["w", "a", "s", "d", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];
const OF_SIMULATIONS = [" ", "p", ".", "Enter", "2", "4"]; // a live module goes on by itself, and has no diagram
const held = new Set<string>();
let disarm = 0;

const name = (event: KeyboardEvent): string => (event.key.length === 1 ? event.key.toLowerCase() : event.key);

/** Whether keys belong to what has the focus. */
function busy(event: KeyboardEvent): boolean {
  const target = event.target as HTMLElement | null;
  if (!target) return false;
  if (target.closest("input, select, textarea, [role=menu], [role=slider], [role=dialog], .react-flow, [role=tablist]")) return true;
  if (event.key === " " || event.key === "Enter") return target.closest("button, a, [role=button]") !== null;
  return false;
}

function moved(full: boolean): void {
  const size = full ? 1 : STEP;
  const on = (key: string): number => (held.has(key) ? size : 0);
  setStick("left", on("d") - on("a"), on("w") - on("s"));
  setStick("right", on("ArrowRight") - on("ArrowLeft"), on("ArrowUp") - on("ArrowDown"));
}

function down(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if (ui.value.help || ui.value.drawer) ui.set({ help: false, drawer: false });
    else if (!busy(event)) backToLive();
    return;
  }
  if (busy(event)) return;
  const key = name(event);
  if (STICK_KEYS.includes(key) && world.value.session?.mode !== "device") {
    event.preventDefault();
    if (ui.value.input !== "keys") ui.set({ input: "keys" });
    held.add(key);
    return moved(event.shiftKey);
  }
  if (event.repeat) return;
  const action = ACTIONS[event.key] ?? ACTIONS[key];
  if (!action || (world.value.session?.mode === "device" && OF_SIMULATIONS.includes(key))) return;
  event.preventDefault();
  action(event);
}

function up(event: KeyboardEvent): void {
  const key = name(event);
  if (key === " ") window.clearTimeout(disarm);
  if (held.delete(key)) moved(event.shiftKey);
}

function release(): void {
  if (held.size === 0) return;
  held.clear();
  centre();
}

const jumps = ["region-nav", "region-bar", "region-scene", "region-charts", "region-panel", "region-sticks", "region-timeline"];
function jump(step: 1 | -1): void {
  const there = jumps.map((id) => document.getElementById(id)).filter((element) => element !== null);
  const at = there.findIndex((element) => element.contains(document.activeElement));
  const next = there[(at + step + there.length) % there.length];
  const inside = next?.querySelector<HTMLElement>("button, a, input, [tabindex='0']");
  (inside ?? next)?.focus();
}

const ACTIONS: Record<string, (event: KeyboardEvent) => void> = {
  " ": () => {
    window.clearTimeout(disarm);
    disarm = window.setTimeout(() => {
      if (!is("armed")) return;
      void operate({ arm: false });
      say("Disarmed", true);
    }, HOLD_MS);
  },
  p: () => void act({ type: "run", on: !is("running") }),
  ".": () => void act({ type: "step", cycles: 1 }),
  ",": () => lookAt(shownTime() - 1),
  c: () => {
    const order: Camera[] = ["chase", "orbit", "body"];
    ui.set((u) => ({ camera: order[(order.indexOf(u.camera) + 1) % order.length]! }));
  },
  f: () => ui.set((u) => ({ fit: u.fit + 1 })),
  m: () => void act({ type: "mark" }).then((ok) => ok && toast("ok", "Time marked")),
  r: () => void toggleRecording(),
  Enter: (event) => event.shiftKey && void continueFromHere(),
  "?": () => ui.set((u) => ({ help: !u.help })),
  "[": () => jump(-1),
  "]": () => jump(1),
};
for (const [key, view] of Object.entries(VIEWS)) {
  ACTIONS[key] = () => {
    if (world.value.session?.mode !== "empty" || view === "campaign") show(view);
  };
}

export function listenToKeys(): void {
  window.addEventListener("keydown", down);
  window.addEventListener("keyup", up);
  window.addEventListener("blur", release);
}
