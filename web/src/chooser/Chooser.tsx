// What do you want to run? Vehicles of the package with their scenarios, and files of the user.
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import type { Choice } from "../messages.ts";
import { shortTitle } from "../bars/Nav.tsx";
import { drawPortrait } from "../scene/portrait.ts";
import { act, connection, sentenceCase, world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { toast } from "../state/toasts.ts";
import { show, ui } from "../state/ui.ts";
import { Button } from "../ui/controls.tsx";
import { Play } from "../ui/icons.tsx";
import { Toasts } from "../ui/Toasts.tsx";
import { startTour } from "../ui/Tour.tsx";
import { drawOwn, type OwnPicture } from "./own-pictures.ts";
import { PORTRAITS } from "./models.ts";

const VEHICLES: Record<string, string> = { quadcopter: "Quadcopter", mars_helicopter: "Mars helicopter", rover: "Rover", manipulator: "Manipulator" };
const ORDER = Object.keys(VEHICLES);

interface Card {
  vehicle: string;
  title: string;
  choices: Choice[];
}

function cards(choices: readonly Choice[], find: string): Card[] {
  const wanted = find.trim().toLowerCase();
  const found = new Map<string, Choice[]>();
  for (const choice of choices) {
    if (choice.own || choice.kind !== "scenario") continue;
    if (wanted && !`${choice.title} ${choice.comment} ${choice.vehicle} ${choice.name}`.toLowerCase().includes(wanted)) continue;
    const vehicle = choice.vehicle ?? choice.name;
    found.set(vehicle, [...(found.get(vehicle) ?? []), choice]);
  }
  const place = (v: string): number => (ORDER.includes(v) ? ORDER.indexOf(v) : ORDER.length);
  return [...found]
    .map(([vehicle, list]) => ({ vehicle, title: VEHICLES[vehicle] ?? vehicle[0]!.toUpperCase() + vehicle.slice(1).replaceAll("_", " "), choices: list }))
    .sort((a, b) => place(a.vehicle) - place(b.vehicle));
}

async function open(command: { choice?: string; upload?: string; script?: boolean }): Promise<void> {
  if (await act({ type: "open", ...command }, "It was not opened")) show("fly");
}

async function upload(file: File): Promise<void> {
  try {
    const answer = await fetch(`upload?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
    const said = (await answer.json()) as { upload?: string; error?: string };
    if (!said.upload) return toast("error", `${file.name} was not opened`, sentenceCase(said.error ?? `The server answered ${answer.status}.`));
    const reply = await connection.ask({ type: "open", upload: said.upload });
    if (reply.ok) show("fly");
    else toast("error", `${file.name} was not opened`, sentenceCase(reply.error));
  } catch {
    toast("error", `${file.name} was not uploaded`, "The server does not answer. Check that it runs.");
  }
}

export function Chooser(): ReactNode {
  const hello = useStore(world, (w) => w.hello);
  const loaded = useStore(world, (w) => w.session?.choice ?? null);
  const [find, setFind] = useState("");
  const list = useMemo(() => cards(hello?.choices ?? [], find), [hello, find]);
  const own = (hello?.choices ?? []).filter((c) => c.own);
  const file = useRef<HTMLInputElement>(null);
  return (
    <main className="chooser scroll" onDragOver={(e) => e.preventDefault()} onDrop={(e) => { e.preventDefault(); const dropped = e.dataTransfer.files[0]; if (dropped) void upload(dropped); }}>
      <div className="choices">
        <div className="row head">
          <div className="grow">
            <h1>What do you want to run?</h1>
            <p className="dim s">Every vehicle flies or drives on its virtual sensors. You can change all of it while it runs.</p>
          </div>
          <input className="in text find" placeholder="Find a scenario" aria-label="Find a scenario" value={find} onChange={(e) => setFind(e.target.value)} />
          <Button onClick={() => file.current?.click()}>Open a file…</Button>
          <input ref={file} type="file" className="sr" tabIndex={-1} aria-label="File to open" onChange={(e) => { const chosen = e.target.files?.[0]; if (chosen) void upload(chosen); e.target.value = ""; }} />
        </div>
        <div className="g4">
          {list.map((card, i) => <VehicleCard key={card.vehicle} card={card} first={i === 0} loaded={loaded} />)}
          {list.length === 0 && <div className="empty">No scenario has “{find}” in its name.</div>}
        </div>
        <h2 className="own-head">Your own</h2>
        <div className="g3">
          <OwnCard picture="robot" title="Your robot" text="A URDF or MJCF file. Place sensors on any link." button="Choose a file…" accept=".urdf,.xml,.mjcf" />
          <OwnCard picture="recording" title="Replay a recording" text="Every chart and the scene, from a file." button="Choose a recording…" accept=".parquet,.csv,.zip" />
          <OwnCard picture="scenario" title="Your scenario" text="Vehicle, path, sensors and diagram in one file." button="Choose a scenario…" accept=".toml" />
        </div>
      </div>
      <aside className="aside">
        <div className="card">
          <div className="phead"><h2>Your files</h2></div>
          {own.length === 0 && <p className="note pad">Files that you name on the command line appear here: strapdown studio FOLDER.</p>}
          <ul className="files">
            {own.map((choice) => (
              <li key={choice.name}>
                <button type="button" onClick={() => void open({ choice: choice.name })}>
                  <i>{{ scenario: "SCN", recording: "REC", robot: "ROB" }[choice.kind]}</i>
                  <b>{choice.title || choice.name}</b>
                  <small>{choice.comment || choice.name}</small>
                </button>
              </li>
            ))}
          </ul>
        </div>
        <div className="card first-time">
          <div className="grow"><h2>First time here?</h2><p className="dim s">Five steps, two minutes: power, calibrate, arm, fly, break a sensor.</p></div>
          <Button onClick={() => void open({ choice: (hello?.choices ?? []).find((c) => c.name === "quadcopter")?.name ?? hello?.choices[0]?.name ?? "" }).then(startTour)}>Start tour</Button>
        </div>
      </aside>
      <Toasts />
    </main>
  );
}

function labelOf(choice: Choice, vehicle: string): string {
  const text = shortTitle(choice.title, vehicle) || choice.name;
  return text[0]!.toUpperCase() + text.slice(1);
}

function VehicleCard({ card, first, loaded }: { card: Card; first: boolean; loaded: string | null }): ReactNode {
  const [name, setName] = useState(card.choices[0]!.name);
  const choice = card.choices.find((c) => c.name === name) ?? card.choices[0]!;
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = useStore(ui, (u) => u.theme);
  const known = card.vehicle in PORTRAITS;
  useEffect(() => {
    if (!canvas.current || !known) return;
    const draw = (): void => {
      if (canvas.current) drawPortrait(canvas.current, PORTRAITS[card.vehicle]!());
    };
    draw();
    const watch = new ResizeObserver(draw);
    watch.observe(canvas.current);
    return () => watch.disconnect();
  }, [card.vehicle, known, theme]);
  return (
    <div className={`pick ${first ? "first" : ""}`}>
      {known || !choice.picture ? <canvas ref={canvas} role="img" aria-label={`Picture of the ${card.title.toLowerCase()}`} /> : <img src={choice.picture.replace(/^\//, "")} alt={`Picture of the ${card.title.toLowerCase()}`} />}
      <div className="tx">
        <h2>{card.title}</h2>
        <p>{sentenceCase(choice.comment || shortTitle(choice.title, card.title))}</p>
        <div className="ft">
          {card.choices.length > 1 ? (
            <select className="sel small grow" aria-label={`Scenario of the ${card.title.toLowerCase()}`} value={choice.name} onChange={(e) => setName(e.target.value)}>
              {card.choices.map((c) => <option key={c.name} value={c.name}>{labelOf(c, card.title)}</option>)}
            </select>
          ) : (
            <span className="grow" />
          )}
          <Button className="small quiet" title="The pilot script of the scenario flies" onClick={() => void open({ choice: choice.name, script: true })} label={`Watch ${choice.title || choice.name}`}>Watch</Button>
          <Button className={`small ${first ? "prim" : ""}`} onClick={() => void open({ choice: choice.name })} label={`${loaded === choice.name ? "Again" : "Run"} ${choice.title || choice.name}`}><Play />{loaded === choice.name ? "Again" : "Run"}</Button>
        </div>
      </div>
    </div>
  );
}

function OwnCard({ picture, title, text, button, accept }: { picture: OwnPicture; title: string; text: string; button: string; accept: string }): ReactNode {
  const canvas = useRef<HTMLCanvasElement>(null);
  const file = useRef<HTMLInputElement>(null);
  const theme = useStore(ui, (u) => u.theme);
  useEffect(() => {
    const draw = (): void => void (canvas.current && drawOwn(canvas.current, picture));
    draw();
    const watch = new ResizeObserver(draw);
    watch.observe(canvas.current!);
    return () => watch.disconnect();
  }, [picture, theme]);
  return (
    <div className="pick">
      <canvas ref={canvas} aria-hidden="true" />
      <div className="tx">
        <h2>{title}</h2>
        <p>{text}</p>
        <div className="ft">
          <Button className="small" onClick={() => file.current?.click()}>{button}</Button>
          <span className="xs dim3">or drop it here</span>
          <input ref={file} type="file" className="sr" tabIndex={-1} aria-label={title} accept={accept} onChange={(e) => { const chosen = e.target.files?.[0]; if (chosen) void upload(chosen); e.target.value = ""; }} />
        </div>
      </div>
    </div>
  );
}
