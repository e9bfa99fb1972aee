// The view Fly: scene, charts, panel; sticks and timeline below.
import { useLayoutEffect, useRef, useState, type ReactNode } from "react";
import { useStore } from "../state/store.ts";
import { world } from "../state/studio.ts";
import { BORDERS, ui, type PanelTab } from "../state/ui.ts";
import { Button, Segment } from "../ui/controls.tsx";
import { Cross, Plus } from "../ui/icons.tsx";
import { Charts } from "./Charts.tsx";
import { SignalsPanel, VehiclePanel } from "./OtherPanels.tsx";
import { DevicePanel } from "./DevicePanel.tsx";
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
  const device = useStore(world, (w) => w.session?.mode === "device");
  const grid = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    grid.current!.style.setProperty("--scene", `${borders[0]}fr`);
    grid.current!.style.setProperty("--charts", `${borders[1]}fr`);
  }, [borders]);
  return (
    <>
      <main className="fly" ref={grid}>
        <h1 className="sr">{device ? "Live module" : "Fly"}</h1>
        <SceneView />
        <Border grid={grid} />
        <Charts />
        <SidePanel />
      </main>
      <footer className="bottom">
        {device ? <span /> : <Sticks />}
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

const DEVICE_TABS: typeof TABS = [{ value: "sensors", text: "Module" }, { value: "signals", text: "Signals" }];

function SidePanel(): ReactNode {
  const wanted = useStore(ui, (u) => u.tab);
  const device = useStore(world, (w) => w.session?.mode === "device");
  const tabs = device ? DEVICE_TABS : TABS;
  const tab = tabs.some((t) => t.value === wanted) ? wanted : "sensors";
  const drawer = useStore(ui, (u) => u.drawer);
  const [adding, setAdding] = useState(false);
  return (
    <aside className={`side ${drawer ? "open" : ""}`} id="region-panel" aria-label="Panel" tabIndex={-1}>
      <div className="rail">
        {tabs.map((t) => (
          <button key={t.value} type="button" aria-expanded={drawer && tab === t.value} onClick={() => ui.set({ tab: t.value, drawer: !(drawer && tab === t.value) })}>{t.text}</button>
        ))}
      </div>
      <div className="panel">
        <div className="phead">
          <Segment small label="Panel" value={tab} options={tabs} onChange={(t) => ui.set({ tab: t })} />
          <span className="grow" />
          {tab === "sensors" && !device && <Button className="small" onClick={() => setAdding(!adding)} label="Add a sensor"><Plus />Add</Button>}
          <Button className="quiet small ico narrow-only" label="Close the panel" onClick={() => ui.set({ drawer: false })}><Cross /></Button>
        </div>
        <div className="pbody scroll">
          {tab === "sensors" && device && <DevicePanel />}
          {tab === "sensors" && !device && <SensorsPanel adding={adding} close={() => setAdding(false)} />}
          {tab === "signals" && <SignalsPanel />}
          {tab === "vehicle" && <VehiclePanel />}
        </div>
      </div>
    </aside>
  );
}
