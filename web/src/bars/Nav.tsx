// Navigation: views, what is loaded, layout, help, theme.
import { useState, type ReactNode } from "react";
import { act, connection, link, world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { saveLayout, show, standardCharts, ui, useLayout as takeLayout, BORDERS, type View } from "../state/ui.ts";
import { seconds } from "../state/format.ts";
import { Button, Menu, type MenuItem } from "../ui/controls.tsx";
import { Caret, Logo, StateIcon, Theme } from "../ui/icons.tsx";

const TABS: readonly { view: View; text: string }[] = [
  { view: "fly", text: "Fly" },
  { view: "diagram", text: "Diagram" },
  { view: "calibrate", text: "Calibrate" },
  { view: "report", text: "Report" },
];

const CAMPAIGN: typeof TABS = [{ view: "campaign", text: "Campaign" }];

/** A live module has no diagram and no truth to report on. */
const DEVICE_TABS: typeof TABS = [{ view: "fly", text: "Live" }, { view: "calibrate", text: "Calibrate" }];

export function Nav({ view }: { view: View }): ReactNode {
  const session = useStore(world, (w) => w.session);
  const campaign = useStore(world, (w) => w.hello?.campaign ?? false);
  const loaded = session !== null && session.mode !== "empty";
  const own = !loaded ? [] : session.mode === "device" ? DEVICE_TABS : TABS;
  const tabs = campaign || view === "campaign" ? [...own, ...CAMPAIGN] : own;
  return (
    <header className="nav" id="region-nav">
      <button type="button" className="brand" onClick={() => show("chooser")} title="What do you want to run?">
        <Logo />
        <span>Strapdown studio</span>
        <span className="sr">: choose what to run</span>
      </button>
      {(loaded || campaign) && view !== "chooser" && (
        <nav className="tabs" aria-label="Views">
          {tabs.map((tab) => (
            <a key={tab.view} href={`#${tab.view}`} aria-current={tab.view === view ? "page" : undefined} onClick={(e) => { e.preventDefault(); show(tab.view); }}>{tab.text}</a>
          ))}
        </nav>
      )}
      {loaded && view !== "chooser" && (
        <>
          <span className="sep" />
          <button type="button" className="btn quiet loaded" onClick={() => show("chooser")} title="Run something else">
            <b>{session.vehicle_title}</b> <span className="dim">{shortTitle(session.title, session.vehicle_title)}</span>
            <Caret />
          </button>
        </>
      )}
      <span className="grow" />
      {loaded && view === "chooser" && <Button className="quiet" onClick={() => show("fly")}>Back to {session.vehicle_title}</Button>}
      {loaded && view === "fly" && <LayoutMenu />}
      <Button className="quiet" onClick={() => ui.set({ help: true })} label="Help and keys">Help <kbd>?</kbd></Button>
      <Button className="quiet ico" label="Change between dark and light" title="Dark or light" onClick={() => ui.set((u) => ({ theme: u.theme === "dark" ? "light" : "dark" }))}><Theme /></Button>
    </header>
  );
}

/** The title of a scenario without the vehicle in front: "Quadcopter: a box" is "a box". */
export function shortTitle(title: string, vehicle: string): string {
  const rest = title.toLowerCase().startsWith(vehicle.toLowerCase()) ? title.slice(vehicle.length).replace(/^[:,\s]+/, "") : title;
  return rest;
}

function LayoutMenu(): ReactNode {
  const layouts = useStore(world, (w) => w.layouts);
  const layout = useStore(ui, (u) => u.layout);
  const [naming, setNaming] = useState<string | null>(null);
  const standard = (): void => {
    ui.set({ layout: "Standard", borders: BORDERS, camera: "chase", span: 20, open: {} });
    standardCharts();
  };
  const items: MenuItem[] = [
    { text: "Standard", checked: layout === "Standard", run: standard },
    ...Object.entries(layouts).map(([name, saved]) => ({ text: name, checked: layout === name, run: () => takeLayout(name, saved) })),
    { text: "Save this layout…", rule: true, run: () => setNaming(layout === "Standard" ? "" : layout) },
    ...(layout in layouts ? [{ text: `Delete “${layout}”`, run: () => void act({ type: "delete_layout", name: layout }).then(() => ui.set({ layout: "Standard" })) }] : []),
  ];
  if (naming !== null) {
    const save = (): void => {
      if (naming.trim()) void saveLayout(naming.trim());
      setNaming(null);
    };
    return (
      <form className="row" onSubmit={(e) => { e.preventDefault(); save(); }}>
        <input className="in text" autoFocus placeholder="Name of the layout" aria-label="Name of the layout" value={naming} maxLength={60} onChange={(e) => setNaming(e.target.value)} onKeyDown={(e) => e.key === "Escape" && setNaming(null)} />
        <Button className="small" onClick={save}>Save</Button>
        <Button className="small quiet" onClick={() => setNaming(null)}>Cancel</Button>
      </form>
    );
  }
  return <Menu label={`Layout: ${layout}`} className="btn quiet" items={items}><span className="dim">Layout:</span> {layout}</Menu>;
}

/** The port of a live module is gone. */
export function VanishedBar(): ReactNode {
  const device = useStore(world, (w) => w.device);
  if (!device || device.connected) return null;
  return (
    <div className="lost" role="alert">
      <StateIcon state="err" />
      <b>The port {device.port} has vanished.</b>
      <span className="grow">Plug the module in again. The charts go on by themselves when it answers.</span>
    </div>
  );
}

export function LostBar(): ReactNode {
  const { status, retryInS, lostAtS } = useStore(link, (l) => l);
  if (status !== "lost") return null;
  return (
    <div className="lost" role="alert">
      <StateIcon state="err" />
      <b>Connection lost at {seconds(lostAtS)}.</b>
      <span className="grow">The simulation may still run. Trying again{retryInS ? ` in ${retryInS} s` : ""}. The charts show what was received.</span>
      <Button className="small" onClick={() => connection.open()}>Try now</Button>
    </div>
  );
}
