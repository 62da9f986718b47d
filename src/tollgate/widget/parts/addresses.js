// @ts-check
// Addresses that the browser may be sent to, and how it is sent there.

const FORBIDDEN_SCHEMES = ["javascript:", "data:", "vbscript:", "blob:", "file:", "about:", "filesystem:"];
const OWN_PARAMETERS = ["id", "resourcePath"];

/**
 * Returns an address that a page may lead to, or null.
 * @param {string | null | undefined} url
 */
export function readAddress(url) {
  try {
    const address = new URL(String(url));
    return FORBIDDEN_SCHEMES.includes(address.protocol) ? null : address;
  } catch {
    return null;
  }
}

/**
 * Whether an address is one of the web. Else an app opens it, and the page stays.
 * @param {URL} address
 */
export function isOfWeb(address) {
  return /^https?:$/.test(address.protocol);
}

/**
 * Whether the shopper came by the back button or a reload. Nobody else is led on without asking: a result page that sends
 * shoppers to the checkout would get them back again and again.
 */
export function isComeBack() {
  const [visit] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType("navigation"));
  return Boolean(visit) && ["back_forward", "reload"].includes(visit.type);
}

/**
 * @param {string} target
 * @returns {Window}
 */
function findWindow(target) {
  const windows = /** @type {Record<string, Window | null>} */ ({ _parent: window.parent, _top: window.top });
  return windows[target] || window;
}

/**
 * Whether this page or the one around it is the result. A shop may have added to the address; what the service adds decides.
 * @param {URL} address
 * @param {string} target
 */
export function isArrived(address, target) {
  return [window, findWindow(target)].some(({ location }) => {
    try {
      return isSamePage(new URL(location.href), address);
    } catch {
      // A page of another origin around ours.
      return false;
    }
  });
}

/**
 * @param {URL} here
 * @param {URL} there
 */
function isSamePage(here, there) {
  // The last of a name is the service's own: an action may carry those of an earlier checkout.
  const isSame = (/** @type {string} */ name) => here.searchParams.getAll(name).pop() === there.searchParams.getAll(name).pop();
  return here.origin === there.origin && here.pathname === there.pathname && OWN_PARAMETERS.every(isSame);
}

/**
 * @param {string} url
 * @param {string} target
 * @param {boolean} isForGood
 */
export function navigate(url, target, isForGood) {
  try {
    // Of another origin's window, no more than this may be used.
    const address = findWindow(target).location;
    const isWithin = isWithinPage(address, url);
    if (isForGood) {
      address.replace(url);
    } else {
      address.href = url;
    }
    if (isWithin) {
      address.reload();
    }
  } catch {
    // The page around ours does not let us lead it away; then this page goes alone.
    window.location.assign(url);
  }
}

/**
 * Whether two addresses differ only behind "#": then a browser stays in the page, and does not ask the shop for the result.
 * @param {Location} location
 * @param {string} url
 */
function isWithinPage(location, url) {
  try {
    const [address, fragment] = url.split("#");
    return fragment !== undefined && location.href.split("#")[0] === address;
  } catch {
    return false;
  }
}
