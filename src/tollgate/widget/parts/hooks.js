// Calls the functions that pages put into wpwlOptions. They are looked up when they are due, so a page may set
// them late; a fault in one of them is told to the page's console and stops nothing of ours.
function makeFault(name, message, more) {
  return Object.assign(new Error(message), { name }, more);
}

// Faults that only the page's author can mend. They hold nothing of the shopper's.
const DEVELOPERS = new WeakSet();
const toldDevelopers = new Set();

function makeDevelopersFault(name, message, more) {
  const fault = makeFault(name, message, more);
  DEVELOPERS.add(fault);
  return fault;
}

function tellLater(fault) {
  setTimeout(() => {
    throw fault;
  });
}

function tell(name, self, ...values) {
  const hook = page.options[name];
  if (typeof hook !== "function") {
    return undefined;
  }
  try {
    return hook.apply(self, values);
  } catch (fault) {
    return tellLater(fault);
  }
}

function tellFault(name, message, more) {
  tellMadeFault(makeFault(name, message, more));
}

// Where the page does not listen, its author finds the fault in the browser's console, once.
function tellMadeFault(fault) {
  if (typeof page.options.onError === "function") {
    tell("onError", page.options, fault);
  } else if (DEVELOPERS.has(fault) && !toldDevelopers.has(fault.message)) {
    toldDevelopers.add(fault.message);
    tellLater(fault);
  }
}

// Callbacks get the objects of window.jQuery where the page has it, and else plain lists of one element.
function hookSelf(widget, frame) {
  const wrap = typeof window.jQuery === "function" ? window.jQuery : (elements) => elements;
  return { $form: wrap([widget.form]), $iframe: wrap(frame ? [frame.element] : []), form: widget.form };
}

// Whatever can be waited for, as the language itself sees it: libraries have promises of their own.
function isPromise(value) {
  return value !== null && ["object", "function"].includes(typeof value) && typeof value.then === "function";
}

// Whether the page lets the shopper pay: true, false, or a promise of one of them.
function askHook(name, widget) {
  const verdict = callGuard(name, widget);
  if (verdict === false) {
    return false;
  }
  const promised = typeof page.options[`${name}Promise`] === "function" ? tell(`${name}Promise`, widget.form) : undefined;
  const waits = [verdict, promised].filter(isPromise);
  return waits.length ? agreeAll(waits) : promised !== false;
}

// The page may also speak by the event: it is a real one, dispatched to the form, so its target is the form.
function callGuard(name, widget) {
  const hook = page.options[name];
  if (typeof hook !== "function") {
    return true;
  }
  let verdict = false;
  const event = new Event("wpwl:beforesubmit", { cancelable: true });
  const call = (dispatched) => {
    try {
      verdict = hook.call(widget.form, dispatched);
    } catch (fault) {
      tellLater(fault);
    }
  };
  widget.form.addEventListener(event.type, call, { once: true });
  widget.form.dispatchEvent(event);
  if (event.defaultPrevented) {
    return false;
  }
  if (!isPromise(verdict)) {
    return verdict !== false;
  }
  return Promise.resolve(verdict).then((answer) => answer !== false && !event.defaultPrevented);
}

async function agreeAll(waits) {
  try {
    return (await Promise.all(waits)).every((answer) => answer !== false);
  } catch {
    return false;
  }
}
