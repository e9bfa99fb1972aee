// Short reports in the lower left of the scene, and the live regions that screen readers follow.
import { Store } from "./store.ts";

export type Level = "ok" | "warn" | "error";
export interface Toast {
  id: number;
  level: Level;
  title: string;
  text: string;
  action?: { label: string; run(): void; href?: string; download?: string };
}

const MOST = 3;
const LEAVES_AFTER_MS = 4000;
const SPOKEN_EVERY_MS = 1000;

export const toasts = new Store({ list: [] as Toast[] });
export const spoken = new Store({ polite: "", assertive: "" });
let next = 1;

export function toast(level: Level, title: string, text = "", action?: Toast["action"]): void {
  const id = next++;
  toasts.set(({ list }) => {
    const others = list.filter((t) => t.title !== title || t.text !== text);
    return { list: [...others, { id, level, title, text, action }].slice(-MOST) };
  });
  say(`${title}. ${text}`, level === "error");
  if (level === "ok") window.setTimeout(() => dismiss(id), action ? 3 * LEAVES_AFTER_MS : LEAVES_AFTER_MS);
}

export function dismiss(id: number): void {
  toasts.set(({ list }) => ({ list: list.filter((t) => t.id !== id) }));
}

let lastSaid = 0;
let queued = 0;
/** Report to screen readers, at most once a second; the latest wins. */
export function say(text: string, urgent = false): void {
  window.clearTimeout(queued);
  const wait = Math.max(0, lastSaid + SPOKEN_EVERY_MS - performance.now());
  queued = window.setTimeout(() => {
    lastSaid = performance.now();
    spoken.set(urgent ? { assertive: text } : { polite: text });
  }, wait);
}
