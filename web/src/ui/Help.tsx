// Help: all keys, and the start of the tour.
import type { ReactNode } from "react";
import { world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { ui } from "../state/ui.ts";
import { Button } from "./controls.tsx";
import { Dialog } from "./Dialog.tsx";
import { startTour } from "./Tour.tsx";

const KEYS: readonly [string, string][] = [
  ["W S A D", "throttle, yaw (Shift: full)"], ["1 2 3 4 5", "Fly, Diagram, Calibrate, Report, Campaign"],
  ["↑ ↓ ← →", "pitch, roll (Shift: full)"], ["C", "next camera"],
  ["Space", "hold 0.5 s to disarm"], ["F", "fit the charts"],
  ["P", "run or pause"], ["M", "mark the time"],
  [".", "step one cycle"], ["R", "record"],
  [",", "look back 1 s"], ["Ctrl+Z", "undo (diagram)"],
  ["Shift+Enter", "continue from here"], ["Esc", "close, back to live"],
  ["[ ]", "previous, next region"], ["?", "this list"],
];

export function Help(): ReactNode {
  const open = useStore(ui, (u) => u.help);
  const version = useStore(world, (w) => w.hello?.version);
  if (!open) return null;
  const close = (): void => ui.set({ help: false });
  return (
    <Dialog title="Help" close={close}>
      <div className="keys">
        {KEYS.map(([key, what]) => [
          <span key={key}><kbd>{key}</kbd></span>,
          <span key={what} className="dim">{what}</span>,
        ])}
      </div>
      <p className="note">Keys act when the focus is not in a field. Gamepad: left stick throttle and yaw, right stick pitch and roll, lower button arm, start button pause.</p>
      <p className="note">Drag in a chart to look at an earlier time, Shift and drag to zoom, wheel for the time range, double click for live.</p>
      <p className="note">Version {version}. <a href="LICENSES.txt" target="_blank" rel="noopener">Licences of the libraries</a></p>
      <footer>
        <Button onClick={() => { close(); startTour(); }}>Start the tour</Button>
        <Button className="prim" onClick={close}>Close</Button>
      </footer>
    </Dialog>
  );
}
