// Waits for the page's word, takes it once from the one page that this frame was made for, and answers its wishes.

const pageOrigin = new URLSearchParams(location.search).get("origin");
let port = null;

function tell(message) {
  if (port !== null) port.postMessage(message);
}

const WISHES = {
  options: ({ options: given }) => takeOptions(given),
  focus: () => input.focus(),
  clear,
  validate: ({ ask }) => {
    catchUp();
    const { isValid, kind, error } = judge();
    tell({ type: "validity", ask, isValid, kind, errors: error === null ? {} : { [field]: error } });
  },
  submit,
};

function hearWish({ data: wish }) {
  if (isRecord(wish) && has(WISHES, wish.type)) WISHES[wish.type](wish);
}

function isConnection(event) {
  if (port !== null || event.source !== window.parent || event.origin !== pageOrigin) return false;
  const { data, ports } = event;
  return isRecord(data) && data.tollgate === "connect" && data.field === field && isText(data.group) && ports.length === 1;
}

function connect(event) {
  if (!isConnection(event)) return;
  window.removeEventListener("message", connect);
  [port] = event.ports;
  port.onmessage = hearWish;
  takeOptions(event.data.options);
  joinGroup(event.data.group);
  tell({ type: "ready" });
  if (input.value !== "") react(); // Somebody, or the browser, may have filled it in before.
  if (options.autofocus) input.focus();
}

// Shown on its own, the page is nobody's frame.
if (window.parent !== window) {
  window.addEventListener("message", connect);
  window.addEventListener("message", hearSibling);
  if (placeholderStyle === null) doWithoutSheet();
  listenToInput();
}
