// What an answer of the service means for the form: go on elsewhere, mend a field, or read why it was of no use.
const CODE_TEXTS = {
  "200.300.404": "sessionGone",
  "800.120.100": "tooManyAttempts",
  "800.700.100": "paidElsewhere",
};
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
    showFrameFaults(widget, answer.errors || {});
    return true;
  }
  if (!answer.body) {
    return followSilence(attempt);
  }
  const { next, result } = answer.body;
  if (next && NEXT_STEPS[next.kind] && readAddress(next.url)) {
    return NEXT_STEPS[next.kind](attempt, next.url);
  }
  showServiceFaults(widget, result || {});
  return true;
}

function hasResult({ body }) {
  return Boolean(body && body.next && body.next.kind === "result");
}

const NEXT_STEPS = {
  result(attempt, url) {
    closePopup(attempt);
    return !leave(url, attempt.widget.resultTarget);
  },
  async challenge(attempt, url) {
    closePopup(attempt);
    if (page.settings.paymentTarget) {
      return !leave(url, page.settings.paymentTarget);
    }
    await visitInDialog(attempt, url, attempt.widget.voice.say("securityCheck"), "onLoadThreeDIframe");
    return attempt.isLeaving ? false : followAbandoned(attempt);
  },
  async provider(attempt, url) {
    const { widget } = attempt;
    if (widget.opensDialog) {
      await visitInDialog(attempt, url, widget.buttonText);
    } else if (attempt.popup && !attempt.popup.closed) {
      await visitInPopup(attempt, url);
    } else {
      if (widget.opensPopup) {
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
    tell("onLightboxCancel", hookSelf(widget));
    return followAbandoned(attempt);
  },
};

// The shopper closed what was opened; whether it was paid before, only the service knows.
async function followAbandoned(attempt) {
  for (let look = 0; look < BUSY_LOOKS_MAX && isCurrent(attempt); look += 1) {
    const now = await askState();
    if (attempt.isLeaving || !isCurrent(attempt)) {
      return false;
    }
    if (!now || now.state !== "busy") {
      return followState(attempt.widget, now);
    }
    await wait(BUSY_LOOK_MS);
  }
  return true;
}

// True where the form may be used.
function followState(widget, now) {
  if (now && now.state === "paid" && now.returnUrl) {
    return !leave(now.returnUrl, widget.resultTarget, true);
  }
  if (now && now.state === "gone") {
    showMessage(widget, widget.voice.say("sessionGone"));
    tellFault("InvalidCheckoutIdError", "the checkout has ended");
  }
  return true;
}

// Nobody answered. The payment may have been made all the same, so the service is asked before anybody tries again.
async function followSilence(attempt) {
  const { widget } = attempt;
  tellFault(widget.submitter() ? "PciIframeSubmitError" : "WidgetError", "the service did not answer", {
    brand: widget.readBrand(),
    event: "submit",
  });
  const now = await askState();
  if (!isCurrent(attempt) || !followState(widget, now)) {
    return false;
  }
  if (!now || now.state !== "gone") {
    showMessage(widget, widget.voice.say(now && now.state === "busy" ? "paidElsewhere" : "networkError"));
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

// Faults are shown beside their fields; what belongs to no field is said as a message.
function showServiceFaults(widget, result) {
  const names = (result.parameterErrors || []).map((fault) => fault.name);
  const faulty = widget.fields.filter((field) => isShown(field) && field.names.some((name) => names.includes(name)));
  faulty.forEach((field) => showFault(widget.voice, field, usualError(field)));
  if (faulty.length) {
    faulty[0].focus();
    return;
  }
  if (result.code === "200.300.404") {
    tellFault("InvalidCheckoutIdError", result.description || "the checkout has ended");
  } else {
    const more = { brand: widget.readBrand(), event: "submit", result };
    tellFault("WidgetError", result.description || "the service refused the payment", more);
  }
  showMessage(widget, widget.voice.say(CODE_TEXTS[result.code] || "unexpectedError"));
}
