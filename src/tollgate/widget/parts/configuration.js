// Asks the service about the checkout: what is paid, by which brands, with which stored cards. Asked again only
// where a form brings brands of its own, and where the state of the checkout is in question.
let brandsAsked = [];
let configurationAsked = null;

async function fetchConfiguration(codes) {
  const brands = codes.map(encodeURIComponent).join("+");
  const reply = await fetch(`${checkoutAddress("form")}?brands=${brands}`, {
    credentials: "omit",
    cache: "no-store",
    referrerPolicy: "no-referrer",
  });
  const body = await reply.json();
  if (!reply.ok) {
    throw makeFault("InvalidCheckoutIdError", (body.result || {}).description || "no such checkout");
  }
  return body;
}

// The configuration for these brands and all that were asked for before.
function configure(codes) {
  const known = configurationAsked && codes.every((code) => brandsAsked.includes(code));
  if (!known) {
    brandsAsked = [...new Set([...brandsAsked, ...codes])];
    configurationAsked = fetchConfiguration(brandsAsked).then((configuration) => {
      page.configuration = configuration;
      return configuration;
    });
  }
  return configurationAsked;
}

// What has become of the checkout meanwhile; null where nobody can be reached.
async function askState() {
  try {
    return await fetchConfiguration(brandsAsked);
  } catch (fault) {
    return fault.name === "InvalidCheckoutIdError" ? { state: "gone", returnUrl: null } : null;
  }
}
