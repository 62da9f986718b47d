// Sends a payment from this frame to the service, one at a time, and tells the page what was answered. What is told
// holds neither the number nor what was typed beside it.

const SUBMIT_PATIENCE_MS = 60000;
const FIELDS_MAX = 200;
const VALUE_LENGTH_MAX = 4096;
const SECRET_NAMES = ["card.number", "card.cvv"];

let isSubmitting = false;

/** What the page adds to a payment. Secrets it cannot know, so it does not name them. */
function keepPageFields(fields) {
  if (!isRecord(fields)) return [];
  return Object.entries(fields)
    .filter(([name, value]) => !SECRET_NAMES.includes(name) && name.length <= TEXT_LENGTH_MAX && isShortText(value))
    .slice(0, FIELDS_MAX);
}

function isShortText(value) {
  return typeof value === "string" && value.length <= VALUE_LENGTH_MAX;
}

/** The number's frame speaks for a new card, and that of a security code for a stored one. */
function maySubmit(fields) {
  if (options.checkoutId === undefined || !isRecord(fields)) return false;
  return field === "number" || (field === "cvv" && isShortText(fields.registrationId));
}

/** What the browser accepts, as it said when it asked for this page: a script's own request says something else. */
function describeHeader(fields) {
  const { accept } = document.body.dataset;
  const tellsBrowser = Object.keys(fields).some((name) => name.startsWith("customer.browser."));
  return accept && tellsBrowser ? { "customer.browser.acceptHeader": accept } : {};
}

async function gather(fields) {
  const own = judge();
  const brand = typeof fields.paymentBrand === "string" ? fields.paymentBrand : options.brand;
  const { values, errors } = field === "number" ? await collect(brand) : { values: {}, errors: {} };
  if (own.error !== null) errors[field] = own.error;
  else if (!own.isEmpty) Object.assign(values, FIELDS[field].values(input.value, readNow()));
  return { values, errors };
}

async function post(fields) {
  const giveUp = new AbortController();
  const timer = setTimeout(() => giveUp.abort(), SUBMIT_PATIENCE_MS);
  try {
    const answer = await fetch(`/v1/checkouts/${options.checkoutId}/${options.resource}`, {
      method: "POST",
      headers: { Accept: "application/json" },
      body: new URLSearchParams(fields),
      mode: "same-origin",
      credentials: "omit",
      redirect: "error",
      cache: "no-store",
      referrerPolicy: "no-referrer",
      signal: giveUp.signal,
    });
    return { status: answer.status, text: await answer.text() };
  } catch {
    return { status: 0, text: "" };
  } finally {
    clearTimeout(timer);
  }
}

function listFaults(body) {
  const faults = isRecord(body.result) ? body.result.parameterErrors : null;
  return Array.isArray(faults) ? faults.filter(isRecord) : [];
}

/** The answer as the page may read it, or nothing where it cannot be read or repeats the number. */
function readAnswer(text, number) {
  if (number && text.replace(/[\s-]/g, "").includes(number)) return null;
  try {
    const body = JSON.parse(text);
    if (!isRecord(body)) return null;
    for (const fault of listFaults(body)) {
      if (String(fault.name).startsWith("card.")) delete fault.value;
    }
    return body;
  } catch {
    return null;
  }
}

/** A code is used once. Where nothing was tried, because some other field has to be mended, it may stay. */
/** So it may where the bank asks first, because nothing was charged yet: the page says when the bank has answered. */
/** And where nobody answered: the page asks how the checkout stands before anything is sent again. */
function isCodeSpent(status, body) {
  if (status === 0) return false;
  if (body !== null && isRecord(body.next) && body.next.kind === "challenge") return false;
  const faults = body === null ? [] : listFaults(body);
  return faults.length === 0 || faults.some((fault) => fault.name === "card.cvv");
}

async function submit({ ask, fields }) {
  if (isSubmitting || !maySubmit(fields)) return;
  isSubmitting = true;
  try {
    const { values, errors } = await gather(fields);
    if (Object.keys(errors).length > 0) {
      tell({ type: "validity", ask, isValid: false, errors });
      return;
    }
    const said = Object.fromEntries(keepPageFields(fields));
    const { status, text } = await post({ ...said, ...describeHeader(said), ...values });
    const body = readAnswer(text, values["card.number"]);
    if (isCodeSpent(status, body)) tellSpent();
    tell(body === null ? { type: "answer", ask, status: 0 } : { type: "answer", ask, status, body });
  } finally {
    isSubmitting = false;
  }
}
