// Open what was chosen: a scenario, or files of the user, which are uploaded first.
import { act, sentenceCase } from "../state/studio.ts";
import { Store } from "../state/store.ts";
import { toast } from "../state/toasts.ts";
import { show } from "../state/ui.ts";
import { mainFile } from "./files.ts";

/** Files that were uploaded from this page and opened, the newest first. */
export const uploaded = new Store<{ names: readonly string[] }>({ names: [] });

export async function open(command: { choice?: string; upload?: string; script?: boolean }): Promise<void> {
  if (await act({ type: "open", ...command }, "It was not opened")) show("fly");
}

async function send(file: File): Promise<string | null> {
  try {
    const answer = await fetch(`upload?name=${encodeURIComponent(file.name)}`, { method: "POST", body: file });
    const said = (await answer.json()) as { upload?: string; error?: string };
    if (said.upload) return said.upload;
    toast("error", `${file.name} was not opened`, sentenceCase(said.error ?? `The server answered ${answer.status}.`));
  } catch {
    toast("error", `${file.name} was not uploaded`, "The server does not answer. Check that it runs.");
  }
  return null;
}

/** Upload files and open the one that the others belong to. */
export async function upload(files: readonly File[]): Promise<void> {
  const main = mainFile(files.map((file) => file.name));
  if (!main) {
    if (files.length) toast("error", `${files[0]!.name} was not opened`, "It is a part of a robot. Choose it together with the URDF or MJCF file.");
    return;
  }
  for (const file of files) if (!(await send(file))) return;
  if (!(await act({ type: "open", upload: main }, `${main} was not opened`))) return;
  uploaded.set((u) => ({ names: [main, ...u.names.filter((name) => name !== main)] }));
  show("fly");
}
