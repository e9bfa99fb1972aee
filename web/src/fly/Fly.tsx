// The view Fly: scene, charts, panel; sticks and timeline below.
import { useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { useStore } from "../state/store.ts";
import { BORDERS, ui, type PanelTab } from "../state/ui.ts";
import { Button, Segment } from "../ui/controls.tsx";
import { Cross, Plus } from "../ui/icons.tsx";
import { Charts } from "./Charts.tsx";
import { SignalsPanel, VehiclePanel } from "./OtherPanels.tsx";
import { SceneView } from "./SceneView.tsx";
import { SensorsPanel } from "./SensorsPanel.tsx";
import { Sticks } from "./Sticks.tsx";
import { Timeline } from "./Timeline.tsx";

const TABS: readonly { value: PanelTab; text: string }[] = [
  { value: "sensors", text: "Sensors" },
  { value: "signals", text: "Signals" },
  { value: "vehicle", text: "Vehicle" },
];

export function Fly(): ReactNode {
  const borders = useStore(ui, (u) => u.borders);
  const grid = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    grid.current!.style.setProperty("--scene", `${borders[0]}fr`);
    grid.current!.style.setProperty("--charts", `${borders[1]}fr`);
  }, [borders]);
  return (
    <>
      <main className="fly" ref={grid}>
        <h1 className="sr">Fly</h1>
        <SceneView />
        <Border grid={grid} />
        <Charts />
        <SidePanel />
      </main>
      <footer className="bottom">
        <Sticks />
        <Timeline />
      </footer>
    </>
  );
}

/** The border between scene and charts: drag it, or use the arrow keys; double click resets it. */
function Border({ grid }: { grid: React.RefObject<HTMLElement | null> }): ReactNode {
  const share = useStore(ui, (u) => u.borders[0] / (u.borders[0] + u.borders[1]));
  const move = (to: number): void => {
    const s = Math.min(0.75, Math.max(0.2, to));
    ui.set({ borders: [s, 1 - s] });
  };
  return (
    <div
      className="border"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label="Border between scene and charts"
      aria-valuemin={20}
      aria-valuemax={75}
      aria-valuenow={Math.round(100 * share)}
      onPointerDown={(e) => e.currentTarget.setPointerCapture(e.pointerId)}
      onPointerMove={(e) => {
        if (!e.buttons) return;
        const box = grid.current!.getBoundingClientRect();
        const panel = document.getElementById("region-panel")?.getBoundingClientRect().width ?? 0;
        move((e.clientX - box.left) / (box.width - panel));
      }}
      onDoubleClick={() => ui.set({ borders: BORDERS })}
      onKeyDown={(e) => {
        if (e.key !== "ArrowLeft" && e.key !== "ArrowRight") return;
        e.preventDefault();
        e.stopPropagation();
        move(share + (e.key === "ArrowRight" ? 0.02 : -0.02));
      }}
    />
  );
}

function SidePanel(): ReactNode {
  const tab = useStore(ui, (u) => u.tab);
  const drawer = useStore(ui, (u) => u.drawer);
  const [adding, setAdding] = useState(false);
  return (
    <aside className={`side ${drawer ? "open" : ""}`} id="region-panel" aria-label="Panel" tabIndex={-1}>
      <div className="rail">
        {TABS.map((t) => (
          <button key={t.value} type="button" aria-expanded={drawer && tab === t.value} onClick={() => ui.set({ tab: t.value, drawer: !(drawer && tab === t.value) })}>{t.text}</button>
        ))}
      </div>
      <div className="panel">
        <div className="phead">
          <Segment small label="Panel" value={tab} options={TABS} onChange={(t) => ui.set({ tab: t })} />
          <span className="grow" />
          {tab === "sensors" && <Button className="small" onClick={() => setAdding(!adding)} label="Add a sensor"><Plus />Add</Button>}
          <Button className="quiet small ico narrow-only" label="Close the panel" onClick={() => ui.set({ drawer: false })}><Cross /></Button>
        </div>
        <div className="pbody scroll">
          {tab === "sensors" && <SensorsPanel adding={adding} close={() => setAdding(false)} />}
          {tab === "signals" && <SignalsPanel />}
          {tab === "vehicle" && <VehiclePanel />}
        </div>
      </div>
    </aside>
  );
}
