// A live module in the panel: what it is, how it is set, its calibration, and its line.
import { type ReactNode } from "react";
import type * as M from "../messages.ts";
import { sentenceCase, world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { show } from "../state/ui.ts";
import { Button } from "../ui/controls.tsx";
import { StateIcon, type LightState } from "../ui/icons.tsx";

const ICON: Record<M.Fact["state"], LightState | null> = { ok: null, warning: "warn", error: "err" };

export function DevicePanel(): ReactNode {
  const device = useStore(world, (w) => w.device);
  if (!device) return <p className="note pad">The module is asked what it is.</p>;
  return (
    <>
      {device.groups.map((group) => (
        <section key={group.title} className="gbody device" aria-label={group.title}>
          <div className="fhead">{group.title}</div>
          {group.facts.map((fact) => (
            <div className="frow wide" key={fact.name}>
              <span className="lab">{fact.name}</span>
              <span className="value">{ICON[fact.state] && <span className="light"><StateIcon state={ICON[fact.state]!} /></span>}{fact.value}</span>
            </div>
          ))}
          {group.title === "Module" && <div className="actions"><Button className="small" onClick={() => show("calibrate")}>Calibrate</Button></div>}
        </section>
      ))}
      {device.notes.map((note) => <p key={note} className="note pad">{sentenceCase(note)}</p>)}
    </>
  );
}
