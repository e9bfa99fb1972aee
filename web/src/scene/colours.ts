// The colours of the theme as numbers for canvases and the 3-D scene.
import { Color } from "three";

let cached: CSSStyleDeclaration | null = null;
let theme = "";

/** The value of a token, such as "--accent". Read again after the theme changed. */
export function token(name: string): string {
  const now = document.documentElement.dataset.theme ?? "dark";
  if (!cached || now !== theme) {
    theme = now;
    cached = getComputedStyle(document.documentElement);
  }
  return cached.getPropertyValue(`--${name}`).trim();
}

export function colour(name: string): Color {
  const text = token(name);
  return new Color(text.length === 9 ? text.slice(0, 7) : text || "#888888");
}

export function rem(): number {
  return parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
}
