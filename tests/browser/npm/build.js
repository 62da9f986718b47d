// Builds what the tests serve: one script for each framework, the code of the guide to frameworks, jQuery, and the style
// sheets of other people's pages.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { build } from "esbuild";
import { compile } from "tailwind4";
import { compileScript, parse } from "vue/compiler-sfc";

const SHEETS = {
  bootstrap: "bootstrap/dist/css/bootstrap.css",
  normalize: "normalize.css/normalize.css",
  wordpress: "understrap/css/theme.css",
};

// This runs in .venv/npm. Each block of the guide names its file in the first line.
const GUIDE = "../../docs/frameworks.md";
const NAMED_BLOCK = /^```\w+\n((?:\/\/|<!--) ([\w.-]+).*\n[^]*?)^```$/gm;

mkdirSync("built/guide", { recursive: true });
mkdirSync("guide", { recursive: true });
for (const [, code, name] of readFileSync(GUIDE, "utf8").matchAll(NAMED_BLOCK)) {
  writeFileSync(`guide/${name}`, code);
}
// Angular's own tool would compile its templates beforehand; here the browser does.
writeFileSync("guide/angular.js", 'import "@angular/compiler"; import "./angular.ts";');

const components = {
  name: "vue",
  setup({ onLoad }) {
    onLoad({ filter: /\.vue$/ }, ({ path }) => {
      const { descriptor } = parse(readFileSync(path, "utf8"));
      return { contents: compileScript(descriptor, { id: path, inlineTemplate: true }).content, loader: "js" };
    });
  },
};
const shared = {
  bundle: true,
  format: "iife",
  target: "es2022",
  define: {
    "process.env.NODE_ENV": '"development"',
    __VUE_OPTIONS_API__: "true",
    __VUE_PROD_DEVTOOLS__: "false",
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
  },
};
await build({ ...shared, entryPoints: ["react.js", "vue.js", "angular.js"], outdir: "built" });
await build({
  ...shared,
  entryPoints: ["guide/react.jsx", "guide/vue.js", "guide/angular.js"],
  outdir: "built/guide",
  jsx: "automatic",
  plugins: [components],
  tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } },
});
for (const name of ["paymentForm.js", "shop.js", "jquery.html"]) {
  copyFileSync(`guide/${name}`, `built/guide/${name}`);
}
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
