// What do you want to run? Vehicles of the package with their scenarios, and files of the user.
import { useEffect, useMemo, useRef, useState, type ReactNode } from "react";
import type { Choice } from "../messages.ts";
import { shortTitle } from "../bars/Nav.tsx";
import { drawPortrait } from "../scene/portrait.ts";
import { sentenceCase, world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { ui } from "../state/ui.ts";
import { Button } from "../ui/controls.tsx";
import { Play } from "../ui/icons.tsx";
import { Toasts } from "../ui/Toasts.tsx";
import { startTour } from "../ui/Tour.tsx";
import { drawOwn, type OwnPicture } from "./own-pictures.ts";
import { DeviceCard } from "./DeviceCard.tsx";
import { kindOf, type FileKind } from "./files.ts";
import { open, upload, uploaded } from "./opening.ts";
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

function chosen(event: React.ChangeEvent<HTMLInputElement>): void {
  void upload([...(event.target.files ?? [])]);
  event.target.value = "";
}

export function Chooser(): ReactNode {
  const hello = useStore(world, (w) => w.hello);
  const loaded = useStore(world, (w) => w.session?.choice ?? null);
  const [find, setFind] = useState("");
  const list = useMemo(() => cards(hello?.choices ?? [], find), [hello, find]);
  const own = (hello?.choices ?? []).filter((c) => c.own);
  const file = useRef<HTMLInputElement>(null);
  return (
    <main className="chooser scroll" onDragOver={(e) => e.preventDefault()} onDrop={(e) => { e.preventDefault(); void upload([...e.dataTransfer.files]); }}>
      <div className="choices">
        <div className="row head">
          <div className="grow">
            <h1>What do you want to run?</h1>
            <p className="dim s">Every vehicle flies or drives on its virtual sensors. You can change all of it while it runs.</p>
          </div>
          <input className="in text find" placeholder="Find a scenario" aria-label="Find a scenario" value={find} onChange={(e) => setFind(e.target.value)} />
          <Button onClick={() => file.current?.click()}>Open a file…</Button>
          <input ref={file} type="file" className="sr" tabIndex={-1} aria-label="File to open" multiple onChange={chosen} />
        </div>
        <div className="g4">
          {list.map((card, i) => <VehicleCard key={card.vehicle} card={card} first={i === 0} loaded={loaded} />)}
          {list.length === 0 && <div className="empty">No scenario has “{find}” in its name.</div>}
        </div>
        <h2 className="own-head">Your own</h2>
        <div className="g3">
          <DeviceCard />
          <OwnCard picture="robot" title="Your robot" text="A URDF or MJCF file. Place sensors on any link." button="Choose a file…" accept=".urdf,.xml,.mjcf,.stl,.obj" />
          <OwnCard picture="recording" title="Replay a recording" text="Every chart and the scene, from a file." button="Choose a recording…" accept=".parquet,.csv,.gz,.zip,.module,.bag,.mcap,.ulg,.bin,.mat" />
          <OwnCard picture="scenario" title="Your scenario" text="Vehicle, path, sensors and diagram in one file." button="Choose a scenario…" accept=".toml" />
        </div>
      </div>
      <aside className="aside">
        <YourFiles own={own} />
        <div className="card first-time">
          <div className="grow"><h2>First time here?</h2><p className="dim s">Five steps, two minutes: power, calibrate, arm, fly, break a sensor.</p></div>
          <Button onClick={() => void open({ choice: (hello?.choices ?? []).find((c) => c.name === "quadcopter")?.name ?? hello?.choices[0]?.name ?? "" }).then(startTour)}>Start tour</Button>
        </div>
      </aside>
      <Toasts />
    </main>
  );
}

const SHORT_KIND: Record<FileKind, string> = { scenario: "SCN", recording: "REC", robot: "ROB" };

/** Files of the command line, and those that were uploaded. */
function YourFiles({ own }: { own: readonly Choice[] }): ReactNode {
  const names = useStore(uploaded, (u) => u.names);
  const rows = [
    ...own.map((c) => ({ key: c.name, kind: c.kind, title: c.title || c.name, text: c.comment || c.name, run: () => open({ choice: c.name }) })),
    ...names.map((name) => ({ key: `upload ${name}`, kind: kindOf(name), title: name, text: "Uploaded", run: () => open({ upload: name }) })),
  ];
  return (
    <div className="card">
      <div className="phead"><h2>Your files</h2></div>
      {rows.length === 0 && <p className="note pad">Files that you open appear here, and those of <code>strapdown studio FOLDER</code>.</p>}
      <ul className="files">
        {rows.map((row) => (
          <li key={row.key}>
            <button type="button" onClick={() => void row.run()}>
              <i>{SHORT_KIND[row.kind]}</i>
              <b>{row.title}</b>
              <small>{row.text}</small>
            </button>
          </li>
        ))}
      </ul>
    </div>
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
        <ul className="chips" aria-label="Sensors">{choice.sensors.map((sensor) => <li key={sensor}>{sensor}</li>)}</ul>
        <select className="sel small" aria-label={`Scenario of the ${card.title.toLowerCase()}`} value={choice.name} onChange={(e) => setName(e.target.value)}>
          {card.choices.map((c) => <option key={c.name} value={c.name}>{labelOf(c, card.title)}</option>)}
        </select>
        <div className="ft">
          <span className="grow" />
          <Button className="small quiet" title="Watch the pilot script of the scenario" onClick={() => void open({ choice: choice.name, script: true })} label={`Watch ${choice.title || choice.name}`}>Watch</Button>
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
          <input ref={file} type="file" className="sr" tabIndex={-1} aria-label={title} accept={accept} multiple onChange={chosen} />
        </div>
      </div>
    </div>
  );
}
