// What an answer of the service means for the form: go on elsewhere, mend a field, or read why it was of no use.
const THROTTLED = "800.120.100";
const CODE_TEXTS = {
  [THROTTLED]: "tooManyAttempts",
  "800.700.100": "paidElsewhere",
};
// Somebody else may have been faster: the checkout is gone or paid, or another attempt is under way.
const OVERTAKEN_CODES = ["200.300.404", "800.700.100"];
const BUSY_LOOKS_MAX = 8;
const BUSY_LOOK_MS = 1500;

// True where the form is the shopper's again; false where the page is about to go away. Of an attempt that was ended
// meanwhile only its result counts, for then there is nothing left to do here.
async function followAnswer(attempt, answer) {
  const { widget } = attempt;
  if (!isCurrent(attempt) && !hasResult(answer)) {
    return true;
  }
  if (answer.type === "validity") {
    wake(attempt);
    showFrameFaults(widget, answer.errors || {});
    return true;
  }
  if (!answer.body) {
    return followSilence(attempt);
  }
  const { next, result } = answer.body;
  attempt.id = answer.body.attempt;
  if (next && NEXT_STEPS[next.kind] && readAddress(next.url)) {
    return NEXT_STEPS[next.kind](attempt, next.url, next.isPaid === true);
  }
  return followRefusal(attempt, result || {});
}

function hasResult({ body }) {
  return Boolean(body && body.next && body.next.kind === "result");
}

const NEXT_STEPS = {
  async result(attempt, url, isPaid) {
    closePopup(attempt);
    return !(await goHome(attempt, url, isPaid));
  },
  async challenge(attempt, url) {
    closePopup(attempt);
    if (page.settings.paymentTarget) {
      clearCodes(attempt.widget);
      return !leave(url, page.settings.paymentTarget);
    }
    await visitInDialog(attempt, url, attempt.widget.voice.say("securityCheck"), "onLoadThreeDIframe");
    return attempt.isLeaving ? false : followAbandoned(attempt);
  },
  async provider(attempt, url) {
    const { widget } = attempt;
    if (widget.opensDialog) {
      await visitInDialog(attempt, url, widget.sayOwn());
    } else if (attempt.popup && !attempt.popup.closed) {
      await visitInPopup(attempt, url);
    } else {
      if (wantsPopup(widget)) {
        showMessage(widget, widget.voice.say("popupBlocked"));
      }
      return !leave(url, page.settings.paymentTarget || "_top");
    }
    if (attempt.isLeaving) {
      return false;
    }
    if (!isCurrent(attempt)) {
      return true;
    }
    if (!attempt.isSettled) {
      tell("onLightboxCancel", hookSelf(widget));
    }
    return followAbandoned(attempt);
  },
};

// How the checkout stands when nothing is under way any more, as far as one may wait for that.
async function askSettled(attempt) {
  let now = await askState();
  for (let look = 1; look < BUSY_LOOKS_MAX && now && now.state === "busy"; look += 1) {
    await wait(BUSY_LOOK_MS);
    if (attempt.isLeaving || !isCurrent(attempt)) {
      break;
    }
    now = await askState();
  }
  return now;
}

// True where the form may be used.
function followState(widget, now, description) {
  if (now && now.state === "paid") {
    leadToResult(now.returnUrl, widget.resultTarget, showPaid);
    return false;
  }
  if (now && now.state === "gone") {
    showMessage(widget, widget.voice.say("sessionGone"));
    tellFault("InvalidCheckoutIdError", description || "the checkout has ended");
  } else if (now && now.attemptsLeft === 0) {
    showMessage(widget, widget.voice.say("attemptsUsedUp"));
  }
  return true;
}

// Nobody answered. The payment may have been made all the same, so the service is asked before anybody tries again.
async function followSilence(attempt) {
  const { widget } = attempt;
  page.isAnswerOwed = true;
  tellFault(widget.submitter() ? "PciIframeSubmitError" : "WidgetError", "the service did not answer", {
    brand: widget.readBrand(),
    event: "submit",
  });
  closePopup(attempt);
  return followUncertain(attempt, await askSettled(attempt));
}

// The same where still nobody knows: then the next press of the button asks first, and so does a line that is back.
function followUncertain(attempt, now) {
  const { widget } = attempt;
  if (!isCurrent(attempt)) {
    return false;
  }
  if (now && ["paid", "gone"].includes(now.state)) {
    return followState(widget, now);
  }
  if (now) {
    showMessage(widget, widget.voice.say(now.state === "busy" ? "paidElsewhere" : "unexpectedError"));
  } else {
    sayTrouble(widget);
  }
  return true;
}

async function followRefusal(attempt, result) {
  const { widget } = attempt;
  const isOvertaken = OVERTAKEN_CODES.includes(result.code) && !listFaults(result).length;
  if (!isOvertaken) {
    const now = result.code === THROTTLED ? await askState() : null;
    wake(attempt);
    showServiceFaults(widget, result);
    return followState(widget, now);
  }
  closePopup(attempt);
  const text = widget.voice.say("paidElsewhere");
  showMessage(widget, result.code === "800.700.100" ? text : "");
  const now = await askSettled(attempt);
  if (!isCurrent(attempt)) {
    return false;
  }
  if (!now) {
    page.isAnswerOwed = true;
    return followUncertain(attempt, now);
  }
  if (now.state === "paid" || now.state === "gone") {
    return followState(widget, now, result.description);
  }
  wake(attempt);
  showServiceFaults(widget, result);
  if (now.state === "busy") {
    showMessage(widget, text);
  }
  return true;
}

function showFrameFaults(widget, errors) {
  const faulty = widget.fields.filter((field) => field.frame && errors[field.frame.field]);
  faulty.forEach((field) => showFault(widget.voice, field, errors[field.frame.field]));
  if (faulty.length) {
    faulty[0].focus();
  } else {
    showMessage(widget, widget.voice.say("unexpectedError"));
  }
}

function listFaults(result) {
  return result.parameterErrors || [];
}

// Faults are shown beside their fields; what belongs to no field is said as a message.
function showServiceFaults(widget, result) {
  const faults = listFaults(result);
  const names = faults.map((fault) => fault.name);
  const isCard = widget.kind === "card" || widget.kind === "registration";
  // A fault with a value is about something that the page itself sent: no shopper can mend that.
  const missing = faults.filter((fault) => fault.value === null).map((fault) => fault.name);
  const asked = isCard ? askForBilling(widget, missing) : [];
  const faulty = widget.fields.filter((field) => isShown(field) && field.names.some((name) => names.includes(name)));
  // Nobody is told off for not having filled in what was not asked for until now.
  faulty.filter((field) => !asked.includes(field)).forEach((field) => showFault(widget.voice, field, usualError(field)));
  if (faulty.length) {
    faulty[0].focus();
    return;
  }
  tellFault("WidgetError", describeRefusal(result), { brand: widget.readBrand(), event: "submit", result });
  showMessage(widget, widget.voice.say(CODE_TEXTS[result.code] || "unexpectedError"));
}

// For whoever builds the page: which parameters are at fault, and why. Never what was typed.
function describeRefusal(result) {
  const faults = listFaults(result).map(({ name, message }) => `${name} ${message || ""}`.trim());
  return [result.description || "the service refused the payment", ...faults].join("; ");
}
