// @ts-check
// The request of the test payment as text, written again whenever the form changes.

const PLAIN_VALUE = /^[A-Za-z0-9._ -]*$/;
const OWN_FIELDS = ["form_token", "key"];

/**
 * Lists the fields that are sent, in their order; empty ones are left out.
 * @param {HTMLFormElement} form
 * @returns {[string, string][]}
 */
function listFields(form) {
  const given = /** @type {[string, string][]} */ ([]);
  for (const [name, value] of new FormData(form)) {
    const text = String(value).trim();
    if (text !== "" && !OWN_FIELDS.includes(name)) {
      given.push([name, text]);
    }
  }
  return given;
}

/**
 * Quotes a word for a shell, where that is needed.
 * @param {string} word
 */
function quoteWord(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/**
 * Writes the command and the raw request of the form.
 * @param {HTMLFormElement} form
 */
function writeRequest(form) {
  const [base, token] = [form.dataset.base ?? "", form.dataset.token ?? ""];
  const given = listFields(form);
  const lines = [`curl ${base}/v1/payments`, `  -H 'Authorization: Bearer ${token}'`];
  for (const [name, value] of given) {
    const option = PLAIN_VALUE.test(value) ? "-d" : "--data-urlencode";
    lines.push(`  ${option} ${quoteWord(`${name}=${value}`)}`);
  }
  const body = given.map(([name, value]) => {
    const spelled = encodeURIComponent(name).replaceAll("%5B", "[").replaceAll("%5D", "]");
    return `${spelled}=${encodeURIComponent(value)}`;
  });
  const raw = [
    "POST /v1/payments HTTP/1.1",
    `Host: ${base.replace(/^.*:\/\//, "")}`,
    `Authorization: Bearer ${token}`,
    "Content-Type: application/x-www-form-urlencoded",
    "",
    body.join("\n&"),
  ];
  const [curlText, rawText] = [document.getElementById("curl"), document.getElementById("raw")];
  if (curlText !== null && rawText !== null) {
    curlText.textContent = lines.join(" \\\n");
    rawText.textContent = raw.join("\n");
  }
}

/**
 * Keeps the request beside the form up to date; the brand and the security code are those of the card.
 * @param {HTMLFormElement} form
 */
export function followForm(form) {
  form.addEventListener("input", () => {
    const card = form.elements.namedItem("card.number");
    const chosen = card instanceof HTMLSelectElement ? card.selectedOptions[0] : undefined;
    for (const [name, value] of [["paymentBrand", chosen?.dataset.brand], ["card.cvv", chosen?.dataset.cvv]]) {
      const field = form.elements.namedItem(name ?? "");
      if (field instanceof HTMLInputElement && value !== undefined) {
        field.value = value;
      }
    }
    writeRequest(form);
  });
}
