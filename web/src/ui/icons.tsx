// Icons of the page. They are decoration: the word next to them, or the label of the button, states what they mean.
import type { ReactNode } from "react";

const svg = (size: [number, number], box: string, children: ReactNode): ReactNode => (
  <svg width={size[0]} height={size[1]} viewBox={box} aria-hidden="true" focusable="false">
    {children}
  </svg>
);

const stroke = { fill: "none", stroke: "currentColor", strokeWidth: 1.6, strokeLinecap: "round", strokeLinejoin: "round" } as const;

export const Chevron = ({ open }: { open: boolean }): ReactNode =>
  svg([10, 10], "0 0 10 10", <path d={open ? "M1 3l4 4 4-4" : "M3 1l4 4-4 4"} {...stroke} />);
export const Caret = (): ReactNode => (
  <svg className="car" width="9" height="9" viewBox="0 0 10 10" aria-hidden="true">
    <path d="M1 3l4 4 4-4" {...stroke} />
  </svg>
);
export const Play = (): ReactNode => svg([11, 12], "0 0 11 12", <path d="M1 .8l9.5 5.2L1 11.2z" fill="currentColor" />);
export const Pause = (): ReactNode => svg([10, 12], "0 0 10 12", <path d="M0 0h3.5v12H0zM6.5 0H10v12H6.5z" fill="currentColor" />);
export const Step = (): ReactNode => svg([12, 12], "0 0 12 12", <path d="M0 .8L7.5 6 0 11.2zM9 .8h2.5v10.4H9z" fill="currentColor" />);
export const Plus = (): ReactNode => svg([10, 10], "0 0 10 10", <path d="M5 0v10M0 5h10" {...stroke} />);
export const Cross = (): ReactNode => svg([9, 9], "0 0 10 10", <path d="M1 1l8 8M9 1L1 9" {...stroke} />);
export const Again = (): ReactNode => svg([13, 13], "0 0 13 13", <path d="M2 6.5a4.5 4.5 0 101.4-3.3L2 4.6M2 1.6v3h3" {...stroke} />);
export const Dots = (): ReactNode =>
  svg([14, 4], "0 0 14 4", (
    <g fill="currentColor">
      <circle cx="2" cy="2" r="1.5" />
      <circle cx="7" cy="2" r="1.5" />
      <circle cx="12" cy="2" r="1.5" />
    </g>
  ));
export const Check = (): ReactNode => svg([12, 12], "0 0 12 12", <path d="M1.5 6.5l3 3 6-7" {...stroke} strokeWidth={1.9} />);
export const Dice = (): ReactNode =>
  svg([13, 13], "0 0 13 13", (
    <>
      <rect x=".7" y=".7" width="11.6" height="11.6" rx="2.4" {...stroke} strokeWidth={1.3} />
      <g fill="currentColor">
        <circle cx="4" cy="4" r="1.1" />
        <circle cx="6.5" cy="6.5" r="1.1" />
        <circle cx="9" cy="9" r="1.1" />
      </g>
    </>
  ));
export const Theme = (): ReactNode =>
  svg([14, 14], "0 0 14 14", (
    <>
      <circle cx="7" cy="7" r="6" {...stroke} strokeWidth={1.4} />
      <path d="M7 1a6 6 0 010 12z" fill="currentColor" />
    </>
  ));
export const Logo = (): ReactNode =>
  svg([20, 20], "0 0 20 20", (
    <>
      <rect x="2.5" y="2.5" width="15" height="15" rx="3.5" {...stroke} />
      <path d="M6 14V6m0 8h8m-8 0l6-6" {...stroke} />
    </>
  ));
export const CameraIcon = (): ReactNode =>
  svg([14, 12], "0 0 14 12", (
    <>
      <rect x=".7" y="2.7" width="12.6" height="8.6" rx="1.6" {...stroke} strokeWidth={1.3} />
      <circle cx="7" cy="7" r="2.3" {...stroke} strokeWidth={1.3} />
      <path d="M4.5 2.5l1-1.6h3l1 1.6" {...stroke} strokeWidth={1.3} />
    </>
  ));

export type LightState = "ok" | "warn" | "err" | "off";
/** A state as a shape and a colour: circle, triangle, octagon with a cross, hollow circle. */
export const StateIcon = ({ state }: { state: LightState }): ReactNode => {
  if (state === "ok") return svg([12, 12], "0 0 12 12", <circle cx="6" cy="6" r="5" fill="var(--ok)" />);
  if (state === "warn") return svg([12, 12], "0 0 12 12", <path d="M6 .6L11.8 11H.2z" fill="var(--warn)" />);
  if (state === "off") return svg([12, 12], "0 0 12 12", <circle cx="6" cy="6" r="4.3" fill="none" stroke="var(--text-3)" strokeWidth="1.5" />);
  return svg([12, 12], "0 0 12 12", (
    <>
      <path d="M3.5.5h5l3 3v5l-3 3h-5l-3-3v-5z" fill="var(--error)" />
      <path d="M4 4l4 4M8 4l-4 4" stroke="var(--bg-1)" strokeWidth="1.5" />
    </>
  ));
};
