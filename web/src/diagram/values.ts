// Present values of signals, written into the pills on the wires five times a second.
import { live, world, shownAs } from "../state/studio.ts";
import { everyFrame } from "../state/loop.ts";
import { short, unitText } from "../state/format.ts";

const pills = new Map<string, { signal: string; element: HTMLElement }>();

export function pill(signal: string, key: string, element: HTMLElement | null): void {
  if (element) pills.set(key, { signal, element });
  else pills.delete(key);
}

/** A value with its unit: a number, the length of a vector, on or off. */
export function signalText(name: string): { text: string; unit: string } | null {
  const at = world.value.signals.findIndex((s) => s.name === name);
  const signal = world.value.signals[at];
  const numbers = live.values?.values[at];
  if (!signal || !numbers || numbers.some((v) => v === null)) return null;
  if (signal.unit === "flag") return { text: numbers[0] ? "on" : "off", unit: "" };
  if (signal.unit === "quaternion") return { text: "q", unit: "" };
  const { unit, factor } = shownAs(signal.unit);
  const value = (signal.size === 1 ? numbers[0]! : Math.hypot(...(numbers as number[]))) * factor;
  return { text: short(Math.abs(value) < 1e-3 ? 0 : value, Math.abs(value) < 1e-3 ? 1 : 3), unit: unitText(unit) };
}

export function showValues(): () => void {
  return everyFrame(5, () => {
    for (const { signal, element } of pills.values()) {
      const value = signalText(signal);
      const text = value ? `${value.text}${value.unit ? ` ${value.unit}` : ""}` : "";
      if (element.textContent !== text) element.textContent = text;
      const display = text ? "" : "none";
      if (element.style.display !== display) element.style.display = display;
    }
  });
}
