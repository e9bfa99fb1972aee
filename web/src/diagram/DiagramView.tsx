// The view Diagram: palette, canvas, selected block, problems.
import { useEffect, useRef, useState, type ReactNode } from "react";
import { fixed } from "../state/format.ts";
import { world } from "../state/studio.ts";
import { useStore } from "../state/store.ts";
import { guardLeaving, show, type View } from "../state/ui.ts";
import { Button, Menu } from "../ui/controls.tsx";
import { Dialog } from "../ui/Dialog.tsx";
import { Check, StateIcon } from "../ui/icons.tsx";
import { Toasts } from "../ui/Toasts.tsx";
import { blockHeight } from "./BlockNode.tsx";
import { Canvas } from "./Canvas.tsx";
import { apply, draft, edit, openFile, redo, revert, saveFile, undo } from "./draft.ts";
import { Inspector } from "./Inspector.tsx";
import { arranged, moveBlocks, portsOf, sheetAt, type Diagram } from "./model.ts";
import { Palette } from "./Palette.tsx";

export default function DiagramView(): ReactNode {
  const running = useStore(world, (w) => w.diagram?.diagram as unknown as Diagram | undefined);
  const edited = useStore(draft, (d) => d.draft);
  const diagram = edited ?? running;
  const [leaving, setLeaving] = useState<View | null>(null);
  useEffect(() => {
    if (!edited) return guardLeaving(null);
    guardLeaving((view) => {
      if (view === "diagram") return true;
      setLeaving(view);
      return false;
    });
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    window.addEventListener("beforeunload", warn);
    return () => {
      guardLeaving(null);
      window.removeEventListener("beforeunload", warn);
    };
  }, [edited]);
  if (!diagram) return <main className="plain"><div className="empty">A recording or a live module has no diagram. Open a scenario to see one.</div></main>;
  return (
    <main className="diagram">
      <h1 className="sr">Diagram</h1>
      <Palette />
      <section className="mid-col" aria-label="Diagram">
        <Head diagram={diagram} />
        <Canvas diagram={diagram} />
        <Problems />
        <Toasts />
      </section>
      <Inspector diagram={diagram} />
      {leaving && (
        <Dialog title="Leave with changes that do not fly?" close={() => setLeaving(null)}>
          <p>The diagram was edited and not applied. Leaving drops the changes; saving keeps them in a file.</p>
          <footer>
            <Button className="quiet" onClick={() => setLeaving(null)}>Stay</Button>
            <Button onClick={() => void saveFile()}>Save to a file</Button>
            <Button className="danger" onClick={() => { guardLeaving(null); revert(); show(leaving); }}>Leave without saving</Button>
          </footer>
        </Dialog>
      )}
    </main>
  );
}

function Head({ diagram }: { diagram: Diagram }): ReactNode {
  const { draft: edited, past, future, path, problems, checking } = useStore(draft, (d) => d);
  const file = useRef<HTMLInputElement>(null);
  const sheet = sheetAt(diagram, path);
  const count = sheet?.block?.length ?? 0;
  const state = useStore(world, (w) => w.diagram);
  const arrange = (): void => {
    const kinds = new Map((world.value.hello?.kinds ?? []).map((k) => [k.kind, k]));
    const running = new Map((state?.blocks ?? []).map((b) => [b.path, b]));
    if (!sheet) return;
    const height = (name: string): number => {
      const block = sheet.block?.find((b) => b.name === name);
      return block ? blockHeight(portsOf(block, path, diagram, running, kinds)) : 50;
    };
    edit((d) => moveBlocks(d, path, arranged(sheet, height)));
  };
  const missing = !edited ? "Nothing was changed" : checking ? "The diagram is being checked" : problems.length ? "Solve the problems first; the running diagram is unchanged" : undefined;
  return (
    <div className="phead">
      <nav className="crumbs" aria-label="Sub-diagrams">
        <button type="button" onClick={() => draft.set({ path: [], selected: null, edge: null })} aria-current={path.length === 0 ? "page" : undefined}>{(diagram.title || "Diagram").split(":")[0]}</button>
        {path.map((name, i) => (
          <button key={name} type="button" onClick={() => draft.set({ path: path.slice(0, i + 1), selected: null, edge: null })} aria-current={i === path.length - 1 ? "page" : undefined}>{name}</button>
        ))}
      </nav>
      <span className="dim3 s xl-only">{count} blocks, {fixed(diagram.control_hz ?? 250, 0)} Hz</span>
      <span className="sep wide-only" />
      <Button className="quiet small" title="Ctrl+Z" onClick={undo} missing={past.length ? undefined : "Nothing to undo"}>Undo</Button>
      <Button className="quiet small" title="Ctrl+Shift+Z" onClick={redo} missing={future.length ? undefined : "Nothing to redo"}>Redo</Button>
      <Button className="quiet small wide-only" onClick={arrange}>Arrange</Button>
      <Button className="quiet small wide-only" onClick={() => file.current?.click()}>Open</Button>
      <Button className="quiet small wide-only" onClick={() => void saveFile()}>Save</Button>
      <span className="narrow-only">
        <Menu label="More" className="btn quiet small" items={[{ text: "Arrange", run: arrange }, { text: "Open", run: () => file.current?.click() }, { text: "Save", run: () => void saveFile() }]}>More</Menu>
      </span>
      <input ref={file} className="sr" type="file" accept=".toml" tabIndex={-1} aria-label="Diagram file" onChange={(e) => { const chosen = e.target.files?.[0]; if (chosen) void openFile(chosen); e.target.value = ""; }} />
      <span className="grow" />
      {edited && <span className="badge warn">Edited, not applied</span>}
      <Button className="small" onClick={revert} missing={edited ? undefined : "Nothing was changed"}>Revert</Button>
      <Button className={`small ${missing ? "" : "prim"}`} onClick={() => void apply()} missing={missing}>Apply</Button>
    </div>
  );
}

function Problems(): ReactNode {
  const { problems, draft: edited, checking } = useStore(draft, (d) => d);
  const events = useStore(world, (w) => w.events);
  const last = events.findLast((e) => e.kind === "diagram");
  const select = (block: string): void => {
    const parts = block.split("/");
    draft.set({ path: parts.slice(0, -1), selected: parts.at(-1) ?? null, edge: null });
  };
  return (
    <section className="prob" aria-label="Problems">
      <div className="phead">
        <h2>Problems</h2>
        {problems.length > 0 && <span className="badge err">{problems.length}</span>}
        <span className="grow" />
        <span className="s dim wide-only">{edited ? "The vehicle flies on with the " : "The vehicle flies with the "}{last ? `diagram applied at ${fixed(last.t_s, 2)} s` : "diagram of the scenario"}</span>
      </div>
      <div className="scroll rows" tabIndex={0} role="group" aria-label="List of problems">
        {problems.map((p, i) => (
          <div className="prow on" key={i}>
            <StateIcon state="err" />
            <span className="grow">{p.block && <b>{p.block}: </b>}{p.message}</span>
            {p.block && <Button className="quiet small" onClick={() => select(p.block)}>Show</Button>}
          </div>
        ))}
        {problems.length === 0 && (
          <div className="prow">
            <span className="cok"><Check /></span>
            <span className="dim">{checking ? "Checking." : "Units, frames, shapes and rates agree. No problem was found."}</span>
          </div>
        )}
      </div>
    </section>
  );
}
