// How the frames of one card form find each other and how the number's frame collects the others' values: by messages
// that only windows of the service can read, between children of one page. The number itself is never sent.

const COLLECT_PATIENCE_MS = 3000;

const siblings = new Map(); // Window of a frame in our group to the field it holds.
const collections = new Map(); // Name of a question under way to the one who takes the answers.
let group = null;

/** Another child of our page. The page itself is none, even where it is of our origin and its own parent. */
function isSibling(source) {
  if (source === null || source === window || source === window.parent) return false;
  return !source.closed && source.parent === window.parent;
}

function speakTo(sibling, kind, content) {
  sibling.postMessage({ tollgateFrame: kind, group, ...content }, location.origin);
}

/** Frames of the shop, and ours that are not loaded yet, cannot be read; the latter greet us when they are there. */
function isOfOurOrigin(other) {
  try {
    return other.location.origin === location.origin;
  } catch {
    return false;
  }
}

function joinGroup(name) {
  group = name;
  for (let place = 0; place < window.parent.length; place += 1) {
    const other = window.parent[place];
    if (isSibling(other) && isOfOurOrigin(other)) speakTo(other, "hello", { field, isReply: false });
  }
}

const HEARD = {
  hello: (source, { field: theirs, isReply }) => {
    if (!has(FIELDS, theirs)) return;
    siblings.set(source, theirs);
    if (!isReply) speakTo(source, "hello", { field, isReply: true });
  },
  ask: (source, { question, brand }) => {
    if (siblings.get(source) !== "number" || field === "number") return;
    const told = field === "cvv" ? mergeOptions(options, { brand }) : options;
    const { isEmpty, error } = judgeField(field, input.value, told, readNow());
    const values = error === null && !isEmpty ? FIELDS[field].values(input.value, readNow()) : {};
    speakTo(source, "values", { question, values, error });
  },
  values: (source, { question, values, error }) => {
    const take = collections.get(question);
    if (take && siblings.has(source)) take(source, values, error);
  },
  spent: (source) => {
    if (siblings.get(source) === "number" && field === "cvv") clear();
  },
};

function hearSibling(event) {
  if (group === null || event.origin !== location.origin || !isSibling(event.source)) return;
  const message = event.data;
  if (!isRecord(message) || message.group !== group || !has(HEARD, message.tollgateFrame)) return;
  HEARD[message.tollgateFrame](event.source, message);
}

function listPresentSiblings() {
  return [...siblings].filter(([source, theirs]) => isSibling(source) && theirs !== "number");
}

/** Values and faults of all other frames of the group. One that does not answer is a fault, not an empty field. */
function collect(brand) {
  const awaited = new Map(listPresentSiblings());
  const found = { values: {}, errors: {} };
  const question = crypto.randomUUID ? crypto.randomUUID() : String(crypto.getRandomValues(new Uint32Array(4)));
  return new Promise((resolve) => {
    const finish = () => {
      clearTimeout(timer);
      collections.delete(question);
      for (const theirs of awaited.values()) found.errors[theirs] = FIELDS[theirs].fault;
      resolve(found);
    };
    const timer = setTimeout(finish, COLLECT_PATIENCE_MS);
    collections.set(question, (source, values, error) => {
      const theirs = awaited.get(source);
      if (!awaited.delete(source)) return;
      if (error === null) Object.assign(found.values, values);
      else found.errors[theirs] = error;
      if (awaited.size === 0) finish();
    });
    for (const source of awaited.keys()) speakTo(source, "ask", { question, brand });
    if (awaited.size === 0) finish();
  });
}

function tellSpent() {
  for (const [source, theirs] of listPresentSiblings()) {
    if (theirs === "cvv") speakTo(source, "spent", {});
  }
  if (field === "cvv") clear();
}
