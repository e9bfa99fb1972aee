// The tour for a first visit: five cards next to the real controls, which work meanwhile.
import { useEffect, useLayoutEffect, useRef, type ReactNode } from "react";
import { useStore } from "../state/store.ts";
import { show, ui } from "../state/ui.ts";
import { Button } from "./controls.tsx";

interface Card {
  title: string;
  text: ReactNode;
  target: string;
}

const CARDS: readonly Card[] = [
  { title: "Power", target: "#tour-power", text: "Switch the power on. The virtual sensors begin to give readings, and the charts fill." },
  { title: "Calibrate", target: "#tour-calibrate", text: "Press Calibrate and leave the vehicle at rest for a few seconds, then press it again. The filter starts from these readings." },
  { title: "Arm", target: "#tour-arm", text: <>The motors turn only when the vehicle is armed. It stays locked until the power is on. Hold <kbd>Space</kbd> to disarm.</> },
  { title: "Fly", target: "#region-sticks", text: <>Hold <kbd>W</kbd> to climb and let it go to stay at a height. The arrow keys lean the vehicle, <kbd>A</kbd> and <kbd>D</kbd> turn it.</> },
  { title: "Break a sensor", target: "#region-panel", text: "Open a sensor, choose a fault, or raise its noise. See in the charts how the estimate and its error follow." },
];
const SEEN = "strapdown-studio-tour";

export function startTour(): void {
  show("fly");
  ui.set({ tour: 1 });
}

/** Start the tour at the first visit. */
export function offerTour(): void {
  if (new URLSearchParams(location.search).get("tour") === "0") return;
  try {
    if (localStorage.getItem(SEEN)) return;
    localStorage.setItem(SEEN, "1");
  } catch {
    return;
  }
  ui.set({ tour: 1 });
}

export function Tour(): ReactNode {
  const step = useStore(ui, (u) => u.tour);
  const box = useRef<HTMLDivElement>(null);
  const card = CARDS[step - 1];
  useLayoutEffect(() => {
    if (!card || !box.current) return;
    const target = document.querySelector<HTMLElement>(card.target);
    const place = (): void => {
      const at = target?.getBoundingClientRect() ?? new DOMRect(40, 60, 0, 0);
      const own = box.current!.getBoundingClientRect();
      const above = at.bottom + own.height + 20 > innerHeight;
      box.current!.classList.toggle("up", above);
      box.current!.style.left = `${Math.max(8, Math.min(at.left - 10, innerWidth - own.width - 8))}px`;
      box.current!.style.top = `${above ? Math.max(8, (at.top > own.height + 20 ? at.top : at.top + at.height / 2) - own.height - 14) : at.bottom + 14}px`;
    };
    place();
    target?.classList.add("tour-target");
    window.addEventListener("resize", place);
    return () => {
      target?.classList.remove("tour-target");
      window.removeEventListener("resize", place);
    };
  }, [card]);
  useEffect(() => {
    if (card) box.current?.querySelector<HTMLElement>(".prim")?.focus({ preventScroll: true });
  }, [card]);
  if (!card) return null;
  const leave = (): void => ui.set({ tour: 0 });
  return (
    <div className="tour" role="dialog" aria-label={`Tour, ${step} of ${CARDS.length}: ${card.title}`} ref={box} onKeyDown={(e) => e.key === "Escape" && leave()}>
      <h2>{step} of {CARDS.length}: {card.title}</h2>
      <p>{card.text}</p>
      <div className="row">
        <span className="dots" aria-hidden="true">{CARDS.map((c, i) => <i key={c.title} className={i < step ? "on" : ""} />)}</span>
        <span className="grow" />
        <Button className="quiet small" onClick={leave}>Leave tour</Button>
        <Button className="prim small" onClick={() => ui.set({ tour: step === CARDS.length ? 0 : step + 1 })}>{step === CARDS.length ? "Finish" : "Next"}</Button>
      </div>
    </div>
  );
}
