// Numbers for people: a real minus sign, thin spaces between thousands, the unit after a space.

const MINUS = "−";
const THIN = " ";

/** Units as they are written on the page, by their plain spelling. */
const WRITTEN: Record<string, string> = {
  "1": "",
  flag: "",
  quaternion: "",
  deg: "°",
  rad: "rad",
  "deg/s": "°/s",
  uT: "µT",
  "m/s2": "m/s²",
  "m/s^2": "m/s²",
  degC: "°C",
  "kg/m3": "kg/m³",
  "A m2": "A m²",
};

export function unitText(unit: string | null | undefined): string {
  if (!unit) return "";
  const known = WRITTEN[unit];
  if (known !== undefined) return known;
  return unit
    .replaceAll("sqrt(Hz)", "√Hz")
    .replaceAll("sqrt(h)", "√h")
    .replaceAll("sqrt(s)", "√s")
    .replaceAll("deg", "°")
    .replaceAll("uT", "µT")
    .replace(/\^?2(?![0-9])/g, "²")
    .replace(/\^?3(?![0-9])/g, "³");
}

/** A number with a fixed number of decimals. */
export function fixed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return "–";
  let text = Math.abs(value).toFixed(decimals);
  const negative = value < 0 && Number(text) !== 0;
  const [whole = "", fraction] = text.split(".");
  if (whole.length > 4) text = whole.replace(/\B(?=(\d{3})+$)/g, THIN) + (fraction ? `.${fraction}` : "");
  return negative ? MINUS + text : text;
}

/** Decimals that the marks of an axis need: a step of 2.5 needs one, or 7.5 would be shown as 8. */
export function decimalsOfStep(step: number): number {
  for (let decimals = 0; decimals < 6; decimals++) {
    const whole = step * 10 ** decimals;
    if (whole >= 1 - 1e-6 && Math.abs(whole - Math.round(whole)) < 1e-6) return decimals;
  }
  return 6;
}

/** Decimals so that a value of this size shows about `digits` digits. */
export function decimalsFor(size: number, digits = 3): number {
  const magnitude = Math.abs(size);
  if (!Number.isFinite(magnitude) || magnitude === 0) return digits - 1;
  return Math.min(6, Math.max(0, digits - 1 - Math.floor(Math.log10(magnitude))));
}

/** A number with about three digits, for a place that shows one value. */
export function short(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return "–";
  const magnitude = Math.abs(value);
  if (magnitude !== 0 && (magnitude < 1e-4 || magnitude >= 1e7)) return exponential(value, digits);
  return fixed(value, decimalsFor(value, digits));
}

function exponential(value: number, digits: number): string {
  const [mantissa = "", exponent = "0"] = value.toExponential(digits - 1).split("e");
  const raised = [...String(Number(exponent))].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)])).join("");
  return `${mantissa.replace("-", MINUS)} · 10${raised}`;
}

/** A number for a text field: as short as it can be without loss. */
export function forField(value: number): string {
  if (!Number.isFinite(value)) return "";
  const rounded = Number(value.toPrecision(4));
  const text = rounded !== 0 && Math.abs(rounded) < 1e-3 ? rounded.toExponential().replace("e+", "e") : String(rounded);
  return text.replace("-", MINUS);
}

/** The number in a text field; NaN if it is none. Accepts both minus signs, blanks and a decimal comma. */
export function fromField(text: string): number {
  const plain = text.trim().replace(/[−–]/g, "-").replace(/[  ]/g, "").replace(",", ".");
  return plain === "" ? NaN : Number(plain);
}

/** The number one step of its last digit further, in the direction of `sign`. */
export function nudged(text: string, sign: 1 | -1): string {
  const value = fromField(text);
  if (!Number.isFinite(value)) return text;
  const plain = text.trim().replace(/[−–]/g, "-").replace(",", ".");
  const [mantissa = "", exponent] = plain.toLowerCase().split("e");
  const decimals = mantissa.includes(".") ? mantissa.length - mantissa.indexOf(".") - 1 : 0;
  const step = 10 ** (-decimals + (exponent ? Number(exponent) : 0));
  const next = value + sign * step;
  return (exponent ? String(Number(next.toPrecision(9))) : next.toFixed(decimals)).replace("-", MINUS);
}

/** A value with its unit: "9.81 m/s²", "0.8°". */
export function withUnit(text: string, unit: string): string {
  if (!unit) return text;
  return unit === "°" ? `${text}°` : `${text} ${unit}`;
}

export function seconds(t: number): string {
  return `${fixed(t, 2)} s`;
}
