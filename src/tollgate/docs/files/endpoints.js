// @ts-check
// The pages of endpoints: tabs of languages, buttons that copy, the reader's credentials, and requests that are sent. Pages are read without it.

import { addCopyButton } from "../modules/copying.js";

/** @typedef {{ name: string, title: string, method: string, path: string, pairs: [string, string][], ids: Record<string, string>, isPage: boolean }} Step */
/** @typedef {{ entityId: string, accessToken: string, formToken: string }} Credentials */
/** @typedef {{ status: number, headers: Record<string, string>, body: string, took: number }} Received */

const LANGUAGE_KEPT = "tollgate.docs.language";
const DAY_LENGTH = "yyyy-MM-dd".length;
const WHOLE_HOLE = /\{([a-z]+)\}/g;

/**
 * Makes an element with a class and content.
 * @param {string} tag
 * @param {string} name
 * @param {(Node | string)[]} content
 * @returns {HTMLElement}
 */
function make(tag, name, ...content) {
  const element = document.createElement(tag);
  element.className = name;
  element.append(...content);
  return element;
}

// ---- languages ----

/**
 * Shows the programs of one language in all examples.
 * @param {string} language
 */
function chooseLanguage(language) {
  for (const tab of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[role=tab]"))) {
    const isChosen = tab.dataset.language === language;
    tab.setAttribute("aria-selected", String(isChosen));
    tab.tabIndex = isChosen ? 0 : -1;
    document.getElementById(tab.getAttribute("aria-controls") ?? "")?.toggleAttribute("hidden", !isChosen);
  }
}

/**
 * Chooses a language and remembers it; a browser may refuse to remember.
 * @param {string} language
 */
function rememberLanguage(language) {
  chooseLanguage(language);
  try {
    localStorage.setItem(LANGUAGE_KEPT, language);
  } catch {
    // The choice lasts until the page is left.
  }
}

/** @returns {string | null} */
function recallLanguage() {
  try {
    return localStorage.getItem(LANGUAGE_KEPT);
  } catch {
    return null;
  }
}

/**
 * Moves between tabs by arrows, as readers of a screen expect.
 * @param {KeyboardEvent} event
 */
function moveBetweenTabs(event) {
  const tabs = /** @type {HTMLElement[]} */ ([.../** @type {Element} */ (event.currentTarget).children]);
  const place = tabs.indexOf(/** @type {HTMLElement} */ (event.target));
  const next = { ArrowRight: place + 1, ArrowLeft: place - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (next !== undefined) {
    event.preventDefault();
    const tab = tabs[(next + tabs.length) % tabs.length];
    rememberLanguage(tab.dataset.language ?? "");
    tab.focus();
  }
}

/**
 * Turns the programs of an example, which stand below each other, into tabs.
 * @param {HTMLElement} box
 * @param {number} place
 */
function makeTabs(box, place) {
  const list = make("div", "tabs");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Language");
  list.addEventListener("keydown", moveBetweenTabs);
  for (const program of /** @type {NodeListOf<HTMLElement>} */ (box.querySelectorAll(".program"))) {
    const language = program.dataset.language ?? "";
    const panel = make("div", "program", ...program.querySelectorAll("pre"));
    const tab = make("button", "tab", program.querySelector("summary")?.textContent ?? language);
    tab.setAttribute("type", "button");
    tab.setAttribute("role", "tab");
    tab.dataset.language = language;
    tab.id = `tab-${place}-${language}`;
    panel.id = `program-${place}-${language}`;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", tab.id);
    tab.setAttribute("aria-controls", panel.id);
    tab.addEventListener("click", () => rememberLanguage(language));
    list.append(tab);
    program.replaceWith(panel);
  }
  const bar = make("div", "bar", list);
  addCopyButton(bar, () => box.querySelector("[role=tabpanel]:not([hidden]) code")?.textContent ?? "");
  box.prepend(bar);
}

/** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".programs")).forEach(makeTabs);
const languages = new Set(
  [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[role=tab]"))].map((tab) => tab.dataset.language),
);
const recalled = recallLanguage();
chooseLanguage(recalled !== null && languages.has(recalled) ? recalled : ([...languages][0] ?? ""));

// ---- values of the reader ----

/**
 * Writes a value into the programs below an element, wherever they have a placeholder for it.
 * @param {ParentNode} root
 * @param {string} hole
 * @param {string} value
 */
function fillPrograms(root, hole, value) {
  for (const place of root.querySelectorAll(`[data-fill="${hole}"]`)) {
    place.textContent = value;
  }
}

/**
 * Finds a member of an answer by its path, such as `aggregations.0.id`.
 * @param {unknown} answer
 * @param {string} path
 * @returns {string}
 */
function findMember(answer, path) {
  let found = answer;
  for (const word of path.split(".")) {
    found = typeof found === "object" && found !== null ? /** @type {Record<string, unknown>} */ (found)[word] : undefined;
  }
  return typeof found === "string" ? found : "";
}

/**
 * Returns the values of the holes of a step by the answers to the steps before.
 * @param {Step} step
 * @param {Map<string, unknown>} answers
 * @returns {Map<string, string>}
 */
function findValues(step, answers) {
  return new Map(
    Object.entries(step.ids).map(([hole, source]) => {
      const [name, ...words] = source.split(".");
      const value = findMember(answers.get(name), words.join("."));
      return [hole, hole === "day" ? value.slice(0, DAY_LENGTH) : value];
    }),
  );
}

/**
 * Returns a step with values in its holes.
 * @param {Step} step
 * @param {Map<string, string>} values
 * @returns {Step}
 */
function fillStep(step, values) {
  /** @param {string} text */
  const fill = (text) => text.replace(WHOLE_HOLE, (whole, hole) => values.get(hole) ?? whole);
  return { ...step, path: fill(step.path), pairs: step.pairs.map(([name, value]) => [name, fill(value)]) };
}

// ---- sending ----

/**
 * Sends a request by the host itself, which adds the token; a page is opened as a shopper opens it.
 * @param {Step} step
 * @param {Credentials} credentials
 * @returns {Promise<Received>}
 */
async function sendStep(step, credentials) {
  const began = performance.now();
  if (step.isPage) {
    const page = await fetch(step.path);
    return { status: page.status, headers: {}, body: "", took: performance.now() - began };
  }
  const form = new URLSearchParams(step.pairs).toString();
  const hasBody = step.method === "POST";
  const target = hasBody || form === "" ? step.path : `${step.path}?${form}`;
  const reply = await fetch("/sandbox/send", {
    method: "POST",
    headers: { "x-form-token": credentials.formToken },
    body: new URLSearchParams({ method: step.method, target, body: hasBody ? form : "" }),
  });
  const took = performance.now() - began;
  if (!reply.ok) {
    return { status: reply.status, headers: {}, body: await reply.text(), took };
  }
  return { .../** @type {Omit<Received, "took">} */ (await reply.json()), took };
}

/**
 * @param {string} text
 * @returns {unknown}
 */
function readJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/**
 * Makes a box of text that scrolls by itself, also by keys.
 * @param {string} text
 * @param {string} label
 * @returns {HTMLElement}
 */
function makeRegion(text, label) {
  const region = make("pre", "", make("code", "", text));
  region.tabIndex = 0;
  region.setAttribute("role", "region");
  region.setAttribute("aria-label", label);
  return region;
}

/**
 * Shows the body of an answer, and its headers if there are any.
 * @param {Received} received
 * @param {string} title
 * @returns {HTMLElement[]}
 */
function showBody(received, title) {
  const json = readJson(received.body);
  const text = json === null ? received.body : JSON.stringify(json, null, 2);
  const warning = received.headers["tollgate-warning"];
  const lines = Object.entries(received.headers).map(([name, value]) => `${name}: ${value}`);
  const headers = make("details", "headers", make("summary", "", "Headers"), makeRegion(lines.join("\n"), `Headers: ${title}`));
  return [
    ...(warning ? [make("p", "fault", `Tollgate-Warning: ${warning}`)] : []),
    ...(text === "" ? [] : [makeRegion(text, `Answer: ${title}`)]),
    ...(lines.length > 0 ? [headers] : []),
  ];
}

/**
 * Shows the status, the result code and the time of an answer in one line.
 * @param {Received} received
 * @param {(code: string) => Node} showCode
 * @returns {(Node | string)[]}
 */
function showOutcome(received, showCode) {
  const code = findMember(readJson(received.body), "result.code");
  const status = make("span", `badge ${received.status < 400 ? "good" : "bad"}`, String(received.status));
  const took = make("span", "soft", `${Math.round(received.took)} ms`);
  return [status, " ", ...(code === "" ? [] : [showCode(code), " "]), took];
}

/**
 * Says what is on its way. An acquirer may take half a minute, so a bar moves meanwhile.
 * @param {string} title
 */
function showSending(title) {
  const bar = document.createElement("progress");
  bar.setAttribute("aria-label", "Waiting for the answer");
  return [make("span", "", `Sending: ${title} `), bar];
}

/** @param {string} code */
function makeCodeLink(code) {
  const link = document.createElement("a");
  link.href = `/docs/codes/${code}`;
  link.textContent = code;
  return link;
}

/**
 * Reads the request of a form as the reader has changed it; a parameter without a value is not sent.
 * @param {HTMLInputElement[]} inputs
 * @param {Step} step
 * @param {Map<string, string>} values
 * @returns {Step}
 */
function readRequest(inputs, step, values) {
  const own = new Map(values);
  /** @type {[string, string][]} */
  const pairs = [];
  for (const input of inputs) {
    const value = input.value || (values.get(input.dataset.hole ?? "") ?? "");
    if (input.dataset.path !== undefined) {
      own.set(input.name, encodeURIComponent(value));
    } else if (value !== "") {
      pairs.push([input.name, value]);
    }
  }
  return { ...fillStep(step, own), pairs };
}

/**
 * Sends an example, and before it those whose answers it needs, unless the reader has put in all ids.
 * @param {HTMLFormElement} form
 * @param {Credentials} credentials
 */
async function sendExample(form, credentials) {
  const steps = /** @type {Step[]} */ (JSON.parse(form.dataset.steps ?? "[]"));
  const last = steps[steps.length - 1];
  const inputs = [...form.querySelectorAll("input")];
  const holes = inputs.filter((input) => (input.dataset.hole ?? "") in last.ids);
  const before = holes.length === 0 || holes.some((input) => input.value === "") ? steps.slice(0, -1) : [];
  const example = form.closest(".example") ?? document;
  const [shownSteps, outcome, answer] = [".steps", ".outcome", ".answer"].map(
    (name) => /** @type {HTMLElement} */ (example.querySelector(name)),
  );
  /** @type {Map<string, unknown>} */
  const answers = new Map();
  shownSteps.replaceChildren();
  answer.replaceChildren();
  for (const step of before) {
    outcome.replaceChildren(...showSending(step.title));
    const values = findValues(step, answers).set("entity", credentials.entityId);
    const received = await sendStep(fillStep(step, values), credentials);
    answers.set(step.name, readJson(received.body));
    const summary = make("summary", "", `${step.title} `, ...showOutcome(received, (code) => new Text(code)));
    shownSteps.append(make("details", "step", summary, ...showBody(received, step.title)));
    if (received.status >= 400) {
      outcome.replaceChildren("A request before this one was refused.");
      return;
    }
  }
  const values = findValues(last, answers);
  values.forEach((value, hole) => value !== "" && fillPrograms(example, hole, value));
  outcome.replaceChildren(...showSending(last.title));
  const received = await sendStep(readRequest(inputs, last, values), credentials);
  outcome.replaceChildren(...showOutcome(received, makeCodeLink));
  answer.append(...showBody(received, last.title));
}

/**
 * Lets the reader send the example of a form.
 * @param {HTMLFormElement} form
 * @param {Credentials} credentials
 */
function enableSending(form, credentials) {
  const entity = form.querySelector("input[data-hole=entity]");
  if (entity instanceof HTMLInputElement) {
    entity.value = credentials.entityId;
  }
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    // A button that is switched off would lose the focus of who works by keyboard.
    if (form.getAttribute("aria-busy") === "true") {
      return;
    }
    form.setAttribute("aria-busy", "true");
    const outcome = form.closest(".example")?.querySelector(".outcome");
    sendExample(form, credentials)
      .catch(() => outcome?.replaceChildren("The host did not answer. Is it running?"))
      .finally(() => form.removeAttribute("aria-busy"));
  });
  form.hidden = false;
}

/** Asks a test host for the credentials of its developer; others are asked to sign in. */
async function fillCredentials() {
  const reply = await fetch("/sandbox/credentials");
  if (!reply.ok) {
    document.querySelector(".sign-in")?.removeAttribute("hidden");
    return;
  }
  const credentials = /** @type {Credentials} */ (await reply.json());
  fillPrograms(document, "token", credentials.accessToken);
  fillPrograms(document, "entity", credentials.entityId);
  document.querySelectorAll("form").forEach((form) => form.matches(".send") && enableSending(form, credentials));
}

if (document.querySelector(".endpoint")?.getAttribute("data-host") === "test") {
  void fillCredentials();
}
