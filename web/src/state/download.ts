// Give the user a file that the page has.

const KEPT_MS = 10_000; // the browser reads it in the meantime

export function download(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), KEPT_MS);
}

export const toml = (text: string): Blob => new Blob([text], { type: "application/toml" });
