// The page of strapdown studio.
import { lazy, StrictMode, Suspense, useEffect, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import "uplot/dist/uPlot.min.css";
import "@xyflow/react/dist/base.css";
import "./css/tokens.css";
import "./css/base.css";
import "./css/controls.css";
import "./css/bars.css";
import "./css/forms.css";
import "./css/fly.css";
import "./css/views.css";
import "./css/diagram.css";
import "./css/campaign.css";
import { ControlBar } from "./bars/ControlBar.tsx";
import { LostBar, Nav, VanishedBar } from "./bars/Nav.tsx";
import { Chooser } from "./chooser/Chooser.tsx";
import { Fly } from "./fly/Fly.tsx";
import { watchGamepads } from "./input/gamepad.ts";
import { listenToKeys } from "./input/keyboard.ts";
import { PROTOCOL } from "./messages.ts";
import { connection, link, live, now, world } from "./state/studio.ts";
import { useStore } from "./state/store.ts";
import { ui } from "./state/ui.ts";
import { Help } from "./ui/Help.tsx";
import { Spoken } from "./ui/Toasts.tsx";
import { offerTour, Tour } from "./ui/Tour.tsx";

const DiagramView = lazy(() => import("./diagram/DiagramView.tsx"));
const CalibrateView = lazy(() => import("./calibrate/CalibrateView.tsx"));
const CampaignView = lazy(() => import("./campaign/CampaignView.tsx"));
const ReportView = lazy(() => import("./report/ReportView.tsx"));

function Page(): ReactNode {
  const wanted = useStore(ui, (u) => u.view);
  const hello = useStore(world, (w) => w.hello);
  const mode = useStore(world, (w) => w.session?.mode);
  const status = useStore(link, (l) => l.status);
  // the folder of a campaign is shown first, before one of its runs is loaded
  const first = hello?.campaign && wanted !== "chooser" ? "campaign" : "chooser";
  const view = wanted === "campaign" ? wanted : mode === "empty" ? first : wanted;
  useEffect(() => {
    if (mode === "live" && view === "fly") offerTour();
  }, [mode, view]);
  useEffect(() => {
    if (hello && hello.protocol !== PROTOCOL) location.reload();
  }, [hello]);
  useEffect(() => {
    const names = { chooser: "Choose", fly: "Fly", diagram: "Diagram", calibrate: "Calibrate", report: "Report", campaign: "Campaign" };
    document.title = `${names[view]} · Strapdown studio`;
  }, [view]);
  if (!hello || !mode) {
    return (
      <>
        <Nav view="chooser" />
        <LostBar />
        <p className="waiting">{status === "lost" ? "The server does not answer. Start it again with strapdown studio." : "Connecting to the server."}</p>
      </>
    );
  }
  return (
    <>
      <Nav view={view} />
      {view !== "chooser" && mode !== "empty" && <ControlBar view={view} />}
      <LostBar />
      <VanishedBar />
      {view === "chooser" && <Chooser />}
      {view === "fly" && <Fly />}
      <Suspense fallback={<p className="waiting">Loading.</p>}>
        {view === "diagram" && <DiagramView />}
        {view === "calibrate" && <CalibrateView />}
        {view === "report" && <ReportView />}
        {view === "campaign" && <CampaignView />}
      </Suspense>
      <Help />
      <Tour />
      <Spoken />
    </>
  );
}

/** For tests and for the console of the browser: what the page knows, to be read. */
Object.defineProperty(window, "strapdown", {
  value: Object.freeze({
    now: () => ({ ...now.value }),
    world: () => world.value,
    view: () => ({ ...ui.value }),
    frames: () => live.frames,
    rows: () => live.samples.rows,
    /** Numbers of a signal from a time on. */
    column: (signal: string, part: number, fromS: number) => Array.from(live.samples.column(signal, part)?.subarray(live.samples.indexAfter(fromS), live.samples.rows) ?? []),
    body: () => (live.frame && world.value.session ? Array.from(live.poses.pose(live.poses.rows - 1, world.value.session.body)) : []),
  }),
});
listenToKeys();
watchGamepads();
connection.open();
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <Page />
  </StrictMode>,
);
