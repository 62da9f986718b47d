// What eslint checks in the scripts that browsers load. Types and undefined names are checked by TypeScript.
import js from "@eslint/js";
import globals from "globals";

// All modules of a script share one scope: a module-level name that a browser has too would hide it from every other module.
const taken = `[name=/^(?:${[...new Set([...Object.keys(globals.browser), ...Object.keys(globals.es2021)])].join("|")})$/]`;
const declarations = [`FunctionDeclaration > Identifier.id${taken}`, `VariableDeclaration > VariableDeclarator > Identifier.id${taken}`];

export default [
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "no-undef": "off",
      eqeqeq: "error",
      "no-console": ["error", { allow: ["warn"] }],
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-restricted-syntax": [
        "error",
        ...declarations.flatMap((declaration) => [
          { selector: `Program > ${declaration}`, message: "A browser has this name too; choose another." },
          { selector: `Program > ExportNamedDeclaration > ${declaration}`, message: "A browser has this name too; choose another." },
        ]),
      ],
      "no-shadow": "error",
      "no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
      "no-use-before-define": ["error", { functions: false, variables: false }],
      "no-useless-return": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
      "prefer-template": "error",
    },
  },
];
