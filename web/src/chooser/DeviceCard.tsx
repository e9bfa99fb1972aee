// A live module: choose its serial port, or type its address.
import { useEffect, useRef, useState, type ReactNode } from "react";
import type { SerialPort } from "../messages.ts";
import { drawPortrait } from "../scene/portrait.ts";
import { connection, link, sentenceCase } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { show, ui } from "../state/ui.ts";
import { Button } from "../ui/controls.tsx";
import { PORTRAITS } from "./models.ts";

const TYPED = ""; // value of the entry for an address that is typed

export function DeviceCard(): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useStore(ui, (u) => u.theme);
  const open = useStore(link, (l) => l.status === "open");
  const [ports, setPorts] = useState<readonly SerialPort[]>([]);
  const [chosen, setChosen] = useState<string | null>(null);
  const [typed, setTyped] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const look = (): void => {
    connection.ask({ type: "ports" }).then((reply) => setPorts(reply.ports ?? []), () => undefined);
  };
  useEffect(() => {
    if (open) look();
  }, [open]);
  useEffect(() => {
    const draw = (): void => void (canvas.current && drawPortrait(canvas.current, PORTRAITS.module!()));
    draw();
    const watch = new ResizeObserver(draw);
    watch.observe(canvas.current!);
    return () => watch.disconnect();
  }, [theme]);
  const value = chosen ?? ports.find((p) => p.converter)?.port ?? TYPED;
  const address = value === TYPED ? typed.trim() : value;
  const connect = async (): Promise<void> => {
    setBusy(true);
    setError("");
    try {
      const reply = await connection.ask({ type: "open", device: address });
      if (reply.ok) show("fly");
      else setError(sentenceCase(reply.error));
    } catch (failure) {
      setError(sentenceCase((failure as Error).message));
    }
    setBusy(false);
  };
  return (
    <div className="pick device-card">
      <canvas ref={canvas} aria-hidden="true" />
      <form className="tx" onSubmit={(e) => { e.preventDefault(); if (address && !busy) void connect(); }}>
        <h2>Live module</h2>
        <p>A real measuring module, or <code>strapdown device emulate</code>: live charts, calibration, recording.</p>
        <select className="sel small" aria-label="Port of the module" value={value} onFocus={look} onChange={(e) => { setChosen(e.target.value); setError(""); }}>
          {ports.map((p) => <option key={p.port} value={p.port}>{p.port}{p.converter ? ` (${p.converter})` : ""}</option>)}
          <option value={TYPED}>{ports.length ? "Another address" : "No serial port found; type an address"}</option>
        </select>
        {value === TYPED && (
          <input className="in text" aria-label="Address of the module" placeholder="/dev/ttyUSB0 or tcp://host:port" value={typed} maxLength={100} spellCheck={false} onChange={(e) => { setTyped(e.target.value); setError(""); }} />
        )}
        {error && <span className="bad-line" role="alert">{error}</span>}
        <div className="ft">
          <Button className="small" missing={busy ? "The module is asked to answer" : address ? undefined : "Choose a port or type an address"} onClick={() => void connect()}>{busy ? "Connecting" : "Connect"}</Button>
          {busy && <span className="xs dim3">it may take 3 s to answer</span>}
        </div>
      </form>
    </div>
  );
}
