// The diagram that is edited: a draft next to the one that flies, with undo, problems and a warning before leaving.
import type { ProblemInfo } from "../messages.ts";
import { download, toml } from "../state/download.ts";
import { answer, connection, world } from "../state/studio.ts";
import { Store } from "../state/store.ts";
import { toast } from "../state/toasts.ts";
import type { Diagram, Path } from "./model.ts";

export interface Draft {
  draft: Diagram | null; // null: nothing was changed
  past: (Diagram | null)[];
  future: (Diagram | null)[];
  path: Path;
  selected: string | null; // block
  edge: string | null; // end of a wire
  problems: ProblemInfo[];
  checking: boolean;
}

export const draft = new Store<Draft>({ draft: null, past: [], future: [], path: [], selected: null, edge: null, problems: [], checking: false });

/** What is shown: the draft, or what flies. */
export function shownDiagram(): Diagram | null {
  return draft.value.draft ?? ((world.value.diagram?.diagram ?? null) as Diagram | null);
}

const MOST_UNDO = 100;
let checkTimer = 0;

export function edit(change: (diagram: Diagram) => Diagram): void {
  const now = shownDiagram();
  if (!now) return;
  const next = change(now);
  if (next === now) return;
  draft.set((d) => ({ draft: next, past: [...d.past, d.draft].slice(-MOST_UNDO), future: [], checking: true }));
  check();
}

/** Move without a step of undo for each pixel. */
export function undo(): void {
  const before = draft.value.past.at(-1);
  if (before === undefined) return;
  draft.set((d) => ({ draft: before, past: d.past.slice(0, -1), future: [d.draft, ...d.future] }));
  check();
}

export function redo(): void {
  const next = draft.value.future[0];
  if (next === undefined) return;
  draft.set((d) => ({ draft: next, past: [...d.past, d.draft], future: d.future.slice(1) }));
  check();
}

export function revert(): void {
  draft.set((d) => ({ draft: null, past: [...d.past, d.draft], future: [], problems: [], checking: false }));
}

function check(): void {
  window.clearTimeout(checkTimer);
  const wanted = draft.value.draft;
  if (!wanted) return draft.set({ problems: [], checking: false });
  checkTimer = window.setTimeout(() => {
    void connection
      .ask({ type: "check_diagram", diagram: wanted as unknown as Record<string, unknown> })
      .then((reply) => {
        if (draft.value.draft !== wanted) return;
        const problems = reply.problems.length ? reply.problems : reply.error ? [{ kind: "file", block: "", place: "", message: reply.error }] : [];
        draft.set({ problems, checking: false });
      })
      .catch(() => draft.set({ checking: false }));
  }, 150);
}

export async function apply(): Promise<void> {
  const wanted = draft.value.draft;
  if (!wanted) return;
  const reply = await answer({ type: "apply_diagram", diagram: wanted as unknown as Record<string, unknown> }, "The diagram was not applied");
  if (!reply) return;
  draft.set({ problems: reply.problems });
  if (!reply.ok) return;
  draft.set({ draft: null, past: [], future: [] });
  toast("ok", "Diagram applied", "It flies from this cycle on.");
}

export async function openFile(file: File): Promise<void> {
  const reply = await answer({ type: "read_diagram", text: await file.text() }, `${file.name} was not opened`);
  if (!reply?.ok || !reply.diagram) return;
  const read = reply.diagram as unknown as Diagram;
  draft.set((d) => ({ draft: read, past: [...d.past, d.draft], future: [], path: [], selected: null, checking: true }));
  check();
  toast("ok", `${file.name} opened`, "It does not fly yet. Press Apply.");
}

export async function saveFile(): Promise<void> {
  const shown = shownDiagram();
  if (!shown) return;
  const reply = await answer({ type: "write_diagram", diagram: shown as unknown as Record<string, unknown> }, "The diagram was not saved");
  if (reply?.ok && reply.text !== null) download(reply.file ?? "diagram.toml", toml(reply.text));
}
