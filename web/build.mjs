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

/** A 16 x 16 icon for browsers that ask for favicon.ico: a rounded frame with two axes. */
function icon() {
  const n = 16;
  const pixels = Buffer.alloc(n * n * 4);
  const inside = (x, y) => Math.hypot(Math.max(4 - x, 0, x - 11), Math.max(4 - y, 0, y - 11)) <= 3.5;
  for (let y = 0; y < n; y++) {
    for (let x = 0; x < n; x++) {
      const edge = inside(x, y) && !(inside(x - 1, y) && inside(x + 1, y) && inside(x, y - 1) && inside(x, y + 1));
      const axis = (x === 5 && y >= 4 && y <= 11) || (y === 11 && x >= 5 && x <= 12) || (x + y === 16 && x >= 5 && x <= 10);
      const rgba = !inside(x, y) ? [0, 0, 0, 0] : edge || axis ? [0xff, 0xa5, 0x93, 0xff] : [0x21, 0x1a, 0x14, 0xff];
      pixels.set(rgba, ((n - 1 - y) * n + x) * 4); // blue, green, red, alpha; lowest row first
    }
  }
  const head = Buffer.alloc(22 + 40);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(1, 4);
  head.set([n, n, 0, 0, 1, 0, 32, 0], 6);
  head.writeUInt32LE(40 + pixels.length + n * 4, 14);
  head.writeUInt32LE(22, 18);
  head.writeUInt32LE(40, 22);
  head.writeInt32LE(n, 26);
  head.writeInt32LE(2 * n, 30);
  head.set([1, 0, 32, 0], 34);
  return Buffer.concat([head, pixels, Buffer.alloc(n * 4)]);
}

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
cpSync(join(here, "public"), out, { recursive: true });
writeFileSync(join(out, "favicon.ico"), icon());
if (watch) {
  const running = await context(options);
  await running.watch();
} else {
  const result = await build(options);
  writeFileSync(join(out, "LICENSES.txt"), licences(result.metafile));
}
