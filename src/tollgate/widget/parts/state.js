// What one run of this script knows: the options of the page, the checkout's configuration, the forms it has
// shown, and the one attempt that may be under way. Everything else is read from here.
const page = {
  options: {},
  settings: null,
  configuration: null,
  widgets: [],
  attempt: null,
  isBlocked: false,
  isUnloaded: false,
  // Whether the forms have given way to a note that it is paid.
  isPaid: false,
  // Whether an attempt was made of which nobody knows what became.
  isAnswerOwed: false,
  // The key of the text that says why the service could not be asked last.
  trouble: "",
  // Whether the page's policy takes windows away from it as soon as they are somewhere else.
  losesWindows: false,
  undoing: [],
};

function onUnload(undo) {
  page.undoing.push(undo);
}

function listen(target, kind, listener, options) {
  target.addEventListener(kind, listener, options);
  onUnload(() => target.removeEventListener(kind, listener, options));
}

function wait(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
