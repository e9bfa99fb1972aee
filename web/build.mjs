// Builds the page into ../src/strapdown/studio/static: one bundle, its style sheet, the picture files, the licences.
import { build, context } from "esbuild";
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.env.STUDIO_OUT ?? join(here, "..", "src", "strapdown", "studio", "static");
const watch = process.argv.includes("--watch");

const options = {
  absWorkingDir: here,
  entryPoints: { studio: "src/main.tsx" },
  outdir: out,
  bundle: true,
  format: "esm",
  splitting: true,
  chunkNames: "part-[hash]",
  target: ["es2022"],
  jsx: "automatic",
  minify: !watch,
  sourcemap: watch,
  legalComments: "none",
  metafile: true,
  define: { "process.env.NODE_ENV": watch ? '"development"' : '"production"' },
  logLevel: "info",
};

/** The licence text of every package whose code is in the bundle. */
function licences(metafile) {
  const packages = new Set();
  for (const input of Object.keys(metafile.inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found) packages.add(found[1]);
  }
  const parts = [...packages].sort().map((name) => {
    const folder = join(here, "node_modules", name);
    const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    const file = ["LICENSE", "LICENSE.md", "LICENSE.txt", "license"].map((n) => join(folder, n)).find((p) => existsSync(p));
    const text = file ? readFileSync(file, "utf8").trim() : `Licence: ${about.license}. The package has no licence file.`;
    return `${name} ${about.version} (${about.license})\n\n${text}\n`;
  });
  return `The page of strapdown studio contains these libraries.\n\n${parts.join(`\n${"-".repeat(80)}\n\n`)}`;
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
cpSync(join(here, "public"), out, { recursive: true });
if (watch) {
  const running = await context(options);
  await running.watch();
} else {
  const result = await build(options);
  writeFileSync(join(out, "LICENSES.txt"), licences(result.metafile));
}
