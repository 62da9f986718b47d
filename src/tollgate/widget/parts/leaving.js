// Brings the shopper to the result page, once the service says where that is: in an answer, or by the word of one
// of its pages that came back in a frame or a window.
const FORBIDDEN_SCHEMES = ["javascript:", "data:", "vbscript:", "blob:", "file:", "about:", "filesystem:"];
const APP_PATIENCE_MS = 5000;
const OWN_PARAMETERS = ["id", "resourcePath"];

function readAddress(url) {
  try {
    const address = new URL(url);
    return FORBIDDEN_SCHEMES.includes(address.protocol) ? null : address;
  } catch {
    return null;
  }
}

// Says who goes: this page ("here"), another window while this page stays ("elsewhere"), or nobody (""), where the
// address is none that a page may lead to. Who leaves for good does not find this page again by the back button.
function leave(url, target, isForGood = false) {
  const address = readAddress(url);
  if (!address) {
    return "";
  }
  const opened = target && !target.startsWith("_") ? window.open(address.href, target) : null;
  if (opened) {
    return opened === window ? "here" : "elsewhere";
  }
  navigate(address.href, target, isForGood);
  if (!isOfWeb(address)) {
    const { attempt } = page;
    setTimeout(() => attempt && isCurrent(attempt) && stayBehind(attempt), APP_PATIENCE_MS);
  }
  return "here";
}

// Where not, an app takes over, and the page stays.
function isOfWeb(address) {
  return /^https?:$/.test(address.protocol);
}

// The result is shown elsewhere. What is paid is not offered here again; anything else may be tried again.
async function stayBehind(attempt) {
  const now = await askState();
  if (!isCurrent(attempt)) {
    return;
  }
  if (now && now.state === "paid") {
    showPaid();
  } else {
    endAttempt(attempt);
  }
}

// Who has paid belongs to the result.
function leadToResult(returnUrl, target, stay) {
  const address = readAddress(returnUrl);
  if (!address || leave(address.href, target, true) !== "here" || !isOfWeb(address)) {
    stay();
  }
}

// By the back button, or loaded anew. Nobody else is led on without a word of theirs: a result page that sends shoppers
// to the till would get them back again and again, without an end.
function isComeBack() {
  const [visit] = performance.getEntriesByType("navigation");
  return Boolean(visit) && ["back_forward", "reload"].includes(visit.type);
}

function findWindow(target) {
  return { _parent: window.parent, _top: window.top }[target] || window;
}

// The page or the one around it. A shop may have added to the address; what the service adds to it tells enough.
function isArrived(address, target) {
  return [window, findWindow(target)].some(({ location }) => {
    try {
      return isSamePage(new URL(location.href), address);
    } catch {
      // A page of another origin around ours.
      return false;
    }
  });
}

function isSamePage(here, there) {
  // The last of a name is the service's own: an action may carry those of an earlier checkout.
  const isSame = (name) => here.searchParams.getAll(name).pop() === there.searchParams.getAll(name).pop();
  return here.origin === there.origin && here.pathname === there.pathname && OWN_PARAMETERS.every(isSame);
}

function navigate(url, target, isForGood) {
  try {
    // Of the address of another origin's window, nothing else may be used.
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
    // A page around ours that does not let us lead it away; then this page goes alone.
    window.location.assign(url);
  }
}

// Where only what follows "#" is another, a browser stays in the page, and the shop would not be asked for its result.
function isWithinPage(location, url) {
  try {
    const [address, fragment] = url.split("#");
    return fragment !== undefined && location.href.split("#")[0] === address;
  } catch {
    return false;
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
  if (!readAddress(data.url)) {
    return;
  }
  // Who is not heard brings the shopper home itself, and two ways home would be one too many.
  if (event.source) {
    event.source.postMessage({ tollgate: "heard", checkoutId: source.checkoutId }, source.origin);
  }
  if (!attempt) {
    leave(data.url, "_top");
    return;
  }
  if (attempt.isLeaving) {
    return;
  }
  clearCodes(attempt.widget);
  closePopup(attempt);
  goHome(attempt, data.url, data.isPaid === true);
}

// Says who goes, as `leave` does. A bank in a dialog has said its last word, and would cover the tick.
async function goHome(attempt, url, isPaid) {
  const { widget } = attempt;
  attempt.isLeaving = true;
  if (isPaid) {
    if (attempt.dialog) {
      attempt.dialog.element.close();
    }
    if (attempt.cancel) {
      attempt.cancel.remove();
    }
    await showTick(widget, url);
  }
  const left = leave(url, widget.resultTarget);
  if (left === "elsewhere") {
    await stayBehind(attempt);
  }
  return left;
}
