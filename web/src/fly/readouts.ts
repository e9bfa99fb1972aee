// Signals that the scene shows as numbers: attitude, speed.
import type { Signal } from "../messages.ts";

export interface HudSignals {
  speed: Signal | undefined;
  attitudeTruth: Signal | undefined;
  attitudeEstimate: Signal | undefined;
}

export function hud(signals: readonly Signal[]): HudSignals {
  const angles = (role: Signal["role"]): Signal | undefined =>
    signals.find((s) => s.role === role && s.unit === "deg" && s.size === 3);
  return {
    speed: signals.find((s) => s.role === "truth" && s.unit === "m/s" && s.size === 3),
    attitudeTruth: angles("truth"),
    attitudeEstimate: angles("estimate"),
  };
}

export function hudSignals(signals: readonly Signal[]): string[] {
  return Object.values(hud(signals)).flatMap((signal: Signal | undefined) => signal?.name ?? []);
}
