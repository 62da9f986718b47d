// Fields of a card that live in frames of the service, and how a form answers to what they say.
const FRAME_FIELDS = {
  number: {
    name: "cardNumber",
    label: "cardNumber",
    names: ["card.number"],
    blurHook: "onBlurCardNumber",
    example: "1234 1234 1234 1234",
  },
  cvv: { name: "cvv", label: "cvv", names: ["card.cvv"], blurHook: "onBlurSecurityCode" },
  holder: { name: "cardHolder", label: "cardHolder", names: ["card.holder"], blurHook: "onBlurCardHolder" },
  expiry: {
    name: "expiry",
    label: "expiryDate",
    names: ["card.expiry", "card.expiryMonth", "card.expiryYear"],
    blurHook: "onBlurExpiryDate",
    placeholder: "mmyy",
  },
};

// Where labels are hidden, the placeholder has to say what the field is for.
function sayPlaceholder(voice, { placeholder, label, example }) {
  if (!page.settings.showPlaceholders) {
    return "";
  }
  return (page.settings.showLabels && example) || voice.say(placeholder || label);
}

// `more()` gives the options that only this form knows: brands, whether empty will do.
function makeFrameField(widget, field, more) {
  const row = FRAME_FIELDS[field];
  const { voice } = widget;
  const label = voice.say(row.label);
  const made = { name: row.name, names: row.names, fault: "" };
  const options = () => ({
    lang: voice.tag,
    dir: voice.dir,
    label,
    placeholder: sayPlaceholder(voice, row),
    hint: made.fault ? made.hint.textContent : "",
    autofocus: page.settings.autofocus === row.names[0],
    checkoutId: source.checkoutId,
    resource: page.configuration.kind,
    ...readFrameLooks(frame.element, widget.form.querySelector("input.wpwl-control:not([type=date])"), readWishedStyles(field)),
    ...more(),
  });
  const classes = `wpwl-control wpwl-control-iframe wpwl-control-${row.name}`;
  const wish = { field, group: widget.group, classes, title: label, options };
  const frame = makeFrame(wish, (message) => hearField(widget, made, row, message));
  Object.assign(made, makeGroup(voice, row.name, label, frame.element, { isFrame: true }), {
    control: frame.element,
    frame,
    judge: () => judgeFrame(made, options().allowsEmpty),
    tellKind: () => frame.state.kind,
    isEmpty: () => frame.state.isEmpty,
    isHopeless: () => !frame.state.isPotentiallyValid,
    focus() {
      frame.element.focus();
      sendFrame(frame, { type: "focus" });
    },
  });
  made.label.addEventListener("click", made.focus);
  widget.frames.push(frame);
  return made;
}

function judgeFrame(field, mayBeEmpty) {
  const { isValid, isEmpty } = field.frame.state;
  return isValid || (isEmpty && mayBeEmpty) ? "" : field.lastError || usualError(field);
}

const FRAME_EVENTS = {
  ready(widget, field) {
    if (field.silence) {
      field.silence = "";
      hushWhenAllAreThere(widget);
    }
    tell("onReadyIframeCommunication", hookSelf(widget, field.frame), field.frame.element);
  },
  focus(widget, field) {
    field.wrapper.classList.add("wpwl-wrapper--focus");
    field.control.classList.add("wpwl-control--focus");
    tell("onFocusIframeCommunication", hookSelf(widget, field.frame), field.frame.element);
  },
  blur(widget, field, row, message) {
    field.wrapper.classList.remove("wpwl-wrapper--focus");
    field.control.classList.remove("wpwl-control--focus");
    judgeOnLeaving(widget.voice, field);
    explainFault(widget, field);
    tell("onBlurIframeCommunication", hookSelf(widget, field.frame), field.frame.element);
    tell(row.blurHook, hookSelf(widget, field.frame), Boolean(message.isValid));
  },
  change(widget, field) {
    field.lastError = "";
    judgeWhileTyping(widget.voice, field);
    explainFault(widget, field);
  },
  brands(widget, field, row, message) {
    if (widget.hearBrands) {
      widget.hearBrands(readList(message.detected), message.active);
    }
  },
  silence(widget, field, row, message) {
    field.silence = message.text;
    page.trouble = message.text;
    sayTrouble(widget);
  },
  enter(widget) {
    if (!page.settings.disableSubmitOnEnter) {
      startPaying(widget);
    }
  },
};

// The network was slow and no more than that.
function hushWhenAllAreThere(widget) {
  if (!widget.fields.some((field) => field.silence)) {
    showMessage(widget, "");
  }
}

function hearField(widget, field, row, message) {
  const react = has(FRAME_EVENTS, message.type) ? FRAME_EVENTS[message.type] : null;
  if (react) {
    react(widget, field, row, message);
  }
}

// False where nobody answers, which says nothing about what was typed.
async function askValidity(field) {
  const { frame } = field;
  if (!frame.isReady && !(await frame.ready)) {
    return false;
  }
  const { type, isValid, kind, errors } = await askFrame(frame, { type: "validate" }, VALIDITY_PATIENCE_MS);
  if (type === "silence") {
    return false;
  }
  frame.state = { ...frame.state, isValid, kind };
  field.lastError = (errors || {})[frame.field] || "";
  return true;
}

// Asks the frames themselves, because a word of theirs may still be on its way, and so may they. Where one does not
// come, the attempt ends here: that is the network's fault and no field's.
async function judgeFrames(widget) {
  const { attempt } = page;
  const framed = widget.fields.filter((field) => field.frame && isShown(field));
  if (framed.some(({ frame }) => !frame.isReady)) {
    hold(attempt);
  }
  const answered = await Promise.all(framed.map(askValidity));
  const silent = framed.find((_, place) => !answered[place]);
  if (silent && isCurrent(attempt)) {
    endAttempt(attempt);
    page.trouble = silent.silence || "networkError";
    sayTrouble(widget);
  }
}

// A frame knows better what is wrong than that something is: a number may be right and of a brand not taken here.
async function explainFault(widget, field) {
  if (field.fault && (await askValidity(field))) {
    if (field.fault && field.lastError) {
      showFault(widget.voice, field, field.lastError);
    }
  }
}

function refreshLooks() {
  for (const widget of page.widgets) {
    for (const frame of widget.frames) {
      updateFrame(frame, frame.options());
    }
  }
}
