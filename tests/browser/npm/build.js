// Builds what the tests serve: one script for each framework, jQuery, and the style sheets of other people's pages.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";
import { compile } from "tailwind4";

const SHEETS = {
  bootstrap: "bootstrap/dist/css/bootstrap.css",
  normalize: "normalize.css/normalize.css",
  wordpress: "understrap/css/theme.css",
};

mkdirSync("built", { recursive: true });
await build({
  entryPoints: ["react.js", "vue.js", "angular.js"],
  outdir: "built",
  bundle: true,
  format: "iife",
  target: "es2022",
  define: {
    "process.env.NODE_ENV": '"development"',
    __VUE_OPTIONS_API__: "true",
    __VUE_PROD_DEVTOOLS__: "false",
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
  },
});
for (const [name, path] of Object.entries(SHEETS)) {
  // Fonts are left out: the tests' pages have none.
  const sheet = readFileSync(`node_modules/${path}`, "utf8").replace(/@font-face\s*{[^}]*}/g, "");
  writeFileSync(`built/${name}.css`, sheet);
}
writeFileSync("built/tailwind3.in.css", "@tailwind base;");
const arguments3 = ["node_modules/tailwind3/lib/cli.js", "-i", "built/tailwind3.in.css", "-o", "built/tailwind3.css"];
execFileSync(process.execPath, arguments3, { stdio: "pipe" });
const loadStylesheet = (id) => {
  const path = `node_modules/${id.replace("tailwindcss", "tailwind4")}`;
  return { path, base: "", content: readFileSync(path.endsWith(".css") ? path : `${path}/index.css`, "utf8") };
};
const tailwind = await compile('@import "tailwindcss/theme.css" layer(theme); @import "tailwindcss/preflight.css" layer(base);', {
  loadStylesheet,
});
writeFileSync("built/tailwind4.css", tailwind.build([]));
copyFileSync("node_modules/jquery/dist/jquery.js", "built/jquery.js");
