// Asks the service about the checkout: what is paid, by which brands, with which stored cards. Asked again only
// where a form brings brands of its own, and where the state of the checkout is in question.
let brandsAsked = [];
let languagesAsked = [];
let configurationAsked = null;

async function fetchConfiguration(codes) {
  if (!source.checkoutId) {
    throw makeDevelopersFault("InvalidCheckoutIdError", `the address of ${SCRIPT_NAME} names no checkout: add ?checkoutId=<id>`);
  }
  const brands = codes.map(encodeURIComponent).join("+");
  const { status, body } = await getJson(`${checkoutAddress("form")}?brands=${brands}&lang=${languagesAsked.join("+")}`);
  if (status !== 200) {
    throw makeRefusal(status, body.result || {});
  }
  return body;
}

// Only one answer says that there is no such checkout any more; a service in trouble says nothing about it.
function makeRefusal(status, result) {
  const message = result.description || `the service answered ${status}`;
  if (result.code === "200.300.404") {
    return makeFault("InvalidCheckoutIdError", message);
  }
  const isRefused = status >= 400 && status < 500 && status !== 429;
  const text = status === 429 ? "tooManyAttempts" : "unexpectedError";
  return makeFault(isRefused ? "WidgetError" : "NetworkError", message, { result, text });
}

// Posts where there are fields. Only where nobody answered at all is there no connection.
async function getJson(url, fields) {
  const sent = fields ? { method: "POST", body: new URLSearchParams(fields) } : {};
  const reply = await fetch(url, { ...sent, credentials: "omit", cache: "no-store", referrerPolicy: "no-referrer" }).catch(() => {
    throw makeFault("NetworkError", "the service cannot be reached", { text: "networkError" });
  });
  const body = await reply.json().catch(() => {
    throw makeRefusal(reply.status, {});
  });
  return { status: reply.status, body };
}

// The configuration for these brands, in these languages, and all that were asked for before.
function configure(codes, languages) {
  const isAsked = (wished, asked) => wished.every((each) => asked.includes(each));
  const known = configurationAsked && isAsked(codes, brandsAsked) && isAsked(languages, languagesAsked);
  if (!known) {
    brandsAsked = [...new Set([...brandsAsked, ...codes])];
    languagesAsked = [...new Set([...languagesAsked, ...languages])];
    configurationAsked = fetchConfiguration(brandsAsked).then(offerWallets).then(
      (configuration) => {
        page.configuration = configuration;
        return configuration;
      },
      (fault) => {
        // The next form asks again.
        configurationAsked = null;
        throw fault;
      },
    );
  }
  return configurationAsked;
}

// What has become of the checkout meanwhile; null where nobody can tell, and then the trouble has a text.
async function askState() {
  try {
    const now = await fetchConfiguration(brandsAsked);
    learnAmount(now);
    return now;
  } catch (fault) {
    return readTrouble(fault);
  }
}

function readTrouble({ name, text }) {
  page.trouble = text;
  return name === "InvalidCheckoutIdError" ? { state: "gone", returnUrl: null } : null;
}

// The merchant may have changed it since. Nothing else is taken over: forms that stand already rely on the rest.
function learnAmount({ amount, currency }) {
  if (page.configuration) {
    page.configuration = { ...page.configuration, amount, currency };
    publish();
    page.widgets.forEach(labelButton);
  }
}
