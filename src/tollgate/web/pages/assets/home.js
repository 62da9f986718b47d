// @ts-check
// The last page of a shopper's way. In a frame or a popup it tells the shop's page, which then goes on; alone, or where
// nobody hears it, it goes on by itself: the window around it, or the one that opened it, need not be the shop's page.
// The link stays for shoppers without scripts.

const HEARING_PATIENCE_MS = 3000;

const link = /** @type {HTMLAnchorElement} */ (document.getElementById("home"));
const { origin, checkout } = link.dataset;
const isFramed = window.parent !== window;
const place = findPlace();
const shop = /** @type {Window | null} */ (isFramed ? place.parent : window.opener);

/** Returns the window that the shop's page has opened or framed: this one, or our page that shows a bank in a frame. */
function findPlace() {
  try {
    return isFramed && window.parent.document.querySelector("iframe[data-bank]") ? window.parent : window;
  } catch {
    return window;
  }
}

function goOn() {
  place.location.replace(link.href);
}

if (shop && origin) {
  const patience = setTimeout(goOn, HEARING_PATIENCE_MS);
  window.addEventListener("message", ({ source, origin: from, data }) => {
    if (source !== shop || from !== origin || !data || data.tollgate !== "heard" || data.checkoutId !== checkout) {
      return;
    }
    clearTimeout(patience);
    if (!isFramed) {
      window.close();
    }
  });
  shop.postMessage({ tollgate: "returned", checkoutId: checkout, url: link.href, isPaid: "paid" in link.dataset }, origin);
} else if (!isFramed) {
  goOn();
}
