// Brings the shopper to the result page, once the service says where that is: in an answer, or by the word of one
// of its pages that came back in a frame or a window.
const FORBIDDEN_SCHEMES = ["javascript:", "data:", "vbscript:", "blob:", "file:", "about:", "filesystem:"];
const APP_PATIENCE_MS = 5000;

function readAddress(url) {
  try {
    const address = new URL(url);
    return FORBIDDEN_SCHEMES.includes(address.protocol) ? null : address;
  } catch {
    return null;
  }
}

// False where the address is none that a page may lead to. Who leaves for good does not find this page again by the
// back button.
function leave(url, target, isForGood = false) {
  const address = readAddress(url);
  if (!address) {
    return false;
  }
  if (target && !target.startsWith("_")) {
    window.open(address.href, target);
  } else {
    navigate(address.href, target, isForGood);
  }
  // An app takes over without this page going away.
  if (!/^https?:$/.test(address.protocol)) {
    const { attempt } = page;
    setTimeout(() => attempt && isCurrent(attempt) && endAttempt(attempt), APP_PATIENCE_MS);
  }
  return true;
}

function navigate(url, target, isForGood) {
  const frames = { _parent: window.parent, _top: window.top };
  try {
    // Of the address of another origin's window, nothing else may be used.
    const address = (frames[target] || window).location;
    if (isForGood) {
      address.replace(url);
    } else {
      address.href = url;
    }
  } catch {
    // A page around ours that does not let us lead it away; then this page goes alone.
    window.location.assign(url);
  }
}

function hearReturn(event) {
  const { data } = event;
  if (event.origin !== source.origin || data === null || typeof data !== "object") {
    return;
  }
  if (data.tollgate !== "returned" || data.checkoutId !== source.checkoutId || typeof data.url !== "string") {
    return;
  }
  const { attempt } = page;
  if (!leave(data.url, attempt ? attempt.widget.resultTarget : "_top")) {
    return;
  }
  // Who is not heard brings the shopper home itself, and two ways home would be one too many.
  if (event.source) {
    event.source.postMessage({ tollgate: "heard", checkoutId: source.checkoutId }, source.origin);
  }
  if (attempt) {
    attempt.isLeaving = true;
    closePopup(attempt);
  }
}
