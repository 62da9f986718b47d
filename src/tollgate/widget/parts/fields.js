// What all fields of a form have in common: a group with label and wrapper, a judgement, and a hint for a fault.
// A field is { name, names, called, group, control, frame, judge(), tellKind(), isHopeless(), isEmpty(), focus() }.

// Which error a fault of the service's becomes where the field itself has no better word for it.
const USUAL_ERRORS = {
  cardNumber: "cardNumberError",
  cardHolder: "cardHolderError",
  givenName: "cardHolderError",
  surname: "cardHolderError",
  expiry: "expiryError",
  cvv: "cvvError",
  accountHolder: "accountHolderError",
  accountIban: "accountIbanError",
  accountBic: "accountBicError",
  accountBank: "accountBankError",
  accountNumber: "accountNumberError",
  email: "emailError",
  birthDate: "birthDateError",
  taxNumber: "taxNumberError",
};

function usualError(field) {
  return USUAL_ERRORS[field.name] || "billingError";
}

// A frame cannot be labelled by a label element, so the words beside it are plain and a click on them is enough.
function makeGroup(voice, name, text, control, { isFrame = false, controlId = "" } = {}) {
  const label = isFrame
    ? make("div", `wpwl-label wpwl-label-${name}`, {}, text)
    : make("label", `wpwl-label wpwl-label-${name}`, { for: controlId }, text);
  const wrapper = make("div", `wpwl-wrapper wpwl-wrapper-${name}`, {}, control);
  const group = make("div", `wpwl-group wpwl-group-${name}`, {}, page.settings.showLabels ? label : null, wrapper);
  if (!page.settings.showLabels && !isFrame) {
    control.setAttribute("aria-label", text);
  }
  // Of a choice without an empty one, something must be chosen.
  if (control.options && ![...control.options].some((option) => option.value === "")) {
    control.setAttribute("aria-required", "true");
  }
  return { group, wrapper, label, called: text };
}

// Most fields must be filled in; one that need not be says so. Where there is no label, its placeholder does.
function markOptional(voice, field) {
  const { control, frame, label } = field;
  const mark = voice.say("optional");
  if (!mark) {
    return field;
  }
  label.append(" ", make("span", "wpwl-optional", {}, mark));
  if (!page.settings.showLabels && !frame) {
    control.setAttribute("aria-label", label.textContent);
    if (control.placeholder) {
      control.placeholder = `${control.placeholder} ${mark}`;
    }
  }
  return field;
}

// For a field that need not be filled in with some brands only.
function showOptional(voice, field, isOptional) {
  const mark = field.label.querySelector(".wpwl-optional");
  if (mark) {
    setHidden(mark, !isOptional);
  } else if (isOptional) {
    markOptional(voice, field);
  }
}

// A field that the page may or may not want filled in.
function makeWantedField(voice, name, isNeeded, wish) {
  const field = makeInputField(voice, name, { ...wish, isNeeded });
  return isNeeded ? field : markOptional(voice, field);
}

function showFault(voice, field, key) {
  const text = sayFault(voice, field, key);
  if (field.fault === key && field.hint.textContent === text) {
    return;
  }
  clearFault(field);
  field.fault = key;
  const id = makeId("hint");
  field.hint = make("div", `wpwl-hint wpwl-hint-${key}`, { id }, text);
  field.control.classList.add("wpwl-has-error");
  field.control.after(field.hint);
  if (field.frame) {
    updateFrame(field.frame, { hint: text });
  } else {
    field.control.setAttribute("aria-invalid", "true");
    describe(field.control, id, true);
  }
}

function clearFault(field) {
  if (!field.fault) {
    return;
  }
  field.fault = "";
  field.control.classList.remove("wpwl-has-error");
  if (field.frame) {
    updateFrame(field.frame, { hint: "" });
  } else {
    field.control.removeAttribute("aria-invalid");
    describe(field.control, field.hint.id, false);
  }
  field.hint.remove();
}

// While typing nobody is scolded for what may still become right.
function judgeWhileTyping(voice, field) {
  if (field.isHopeless()) {
    showFault(voice, field, field.judge() || usualError(field));
  } else if (field.fault && (!field.judge() || field.isEmpty())) {
    clearFault(field);
  }
}

function judgeOnLeaving(voice, field) {
  whenReleased(() => judgeLeft(voice, field));
}

function judgeLeft(voice, field) {
  const key = field.isEmpty() ? "" : field.judge();
  if (key) {
    showFault(voice, field, key);
  } else if (!field.isEmpty()) {
    clearFault(field);
  }
}

// Shows what is wrong with any of them; true where nothing is.
function judgeAll(voice, fields) {
  const faulty = fields.filter((field) => {
    const key = isShown(field) ? field.judge() : "";
    if (key) {
      showFault(voice, field, key);
    } else {
      clearFault(field);
    }
    return key;
  });
  if (faulty.length) {
    faulty[0].focus();
  }
  return faulty.length === 0;
}

function isShown(field) {
  return !field.group.hidden;
}
