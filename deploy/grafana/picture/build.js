// Bundle draw.jsx, and write build/index.html with the icons of Grafana's components and the answers of Prometheus.
import { cpSync, readFileSync, writeFileSync } from "node:fs";

import { build } from "esbuild";

// The CommonJS builds: the others import defaults of CommonJS packages in a way that only Grafana's own bundler resolves.
const PACKAGES = ["data", "e2e-selectors", "schema", "ui"];

await build({
  entryPoints: ["draw.jsx"],
  outfile: "build/draw.js",
  bundle: true,
  minify: true,
  jsx: "automatic",
  alias: Object.fromEntries(PACKAGES.map((name) => [`@grafana/${name}`, `./node_modules/@grafana/${name}/dist/cjs/index.cjs`])),
  loader: { ".svg": "dataurl", ".ttf": "dataurl" },
  define: { "process.env.NODE_ENV": '"production"' },
  logLevel: "warning",
});

const answers = readFileSync("build/answers.json", "utf8").replaceAll("<", "\\u003c");
cpSync("node_modules/@grafana/ui/dist/public", "build/public", { recursive: true });
writeFileSync(
  "build/index.html",
  `<!doctype html><meta charset="utf-8"><title>cfplan: capacity</title>
<link rel="stylesheet" href="draw.css"><style>html body { margin: 0; height: auto; overflow: visible }</style>
<script>window.__grafana_public_path__ = "public/"; window.answers = ${answers}</script>
<div id="page"></div><script src="draw.js"></script>`,
);
