// The expiry date as a field of the page; how it is written and judged is shared with the frames.
function readToday() {
  const today = new Date();
  return { year: today.getFullYear(), month: today.getMonth() + 1 };
}

function judgeExpiryText(text) {
  const judged = judgeExpiry(text, readToday());
  // A page that wants no judgement about the date still gets a whole one, and one that can be.
  const isWhole = judged.error !== "expiryError" && isMonth(judged.month);
  const isForgiven = page.settings.disableCardExpiryDateValidation && isWhole;
  return isForgiven ? { ...judged, error: null, isPotentiallyValid: true } : judged;
}

function writeWhileTyping(control, event) {
  if (event.isComposing) {
    return;
  }
  const isDeleting = String(event.inputType || "").startsWith("delete");
  const { text, caret } = setExpiry(control.value, control.selectionStart, isDeleting);
  if (text !== control.value) {
    control.value = text;
    // In a field that is not being used, this would steal the focus in some browsers.
    if (document.activeElement === control) {
      control.setSelectionRange(caret, caret);
    }
  }
}

// Deleting at the slash means the digit beyond it.
function hopOverSlash(control, event) {
  const isForward = event.inputType === "deleteContentForward";
  if (control.selectionStart !== control.selectionEnd || (!isForward && event.inputType !== "deleteContentBackward")) {
    return;
  }
  const left = deleteAtSlash(control.value, control.selectionStart, isForward);
  if (left) {
    event.preventDefault();
    control.value = left.text;
    control.setSelectionRange(left.caret, left.caret);
    control.dispatchEvent(new InputEvent("input", { bubbles: true, inputType: event.inputType }));
  }
}

function makeExpiryField(voice) {
  const id = makeId("expiry");
  const control = make("input", "wpwl-control wpwl-control-expiry", {
    id,
    name: "card.expiry",
    type: "text",
    inputmode: "numeric",
    autocomplete: "cc-exp",
    maxlength: EXPIRY_LENGTH_MAX,
    dir: "ltr",
    "aria-required": "true",
    placeholder: page.settings.showPlaceholders ? voice.say("mmyy") : null,
  });
  const month = make("input", "", { type: "hidden", name: "card.expiryMonth" });
  const year = make("input", "", { type: "hidden", name: "card.expiryYear" });
  // Of what stands in the field now: pages and programs that fill in forms do not always tell that they did.
  const readParts = () => {
    const judged = judgeExpiryText(control.value);
    [month.value, year.value] = judged.error ? ["", ""] : [judged.month, judged.year];
    return judged;
  };
  const field = {
    name: "expiry",
    names: ["card.expiry", "card.expiryMonth", "card.expiryYear"],
    control,
    hiddens: [month, year],
    frame: null,
    fault: "",
    judge: () => readParts().error || "",
    tellKind: () => judgeExpiryText(control.value).kind,
    settle: () => readParts(),
    isEmpty: () => control.value === "",
    isHopeless: () => !field.isEmpty() && !judgeExpiryText(control.value).isPotentiallyValid,
    focus: () => control.focus(),
  };
  Object.assign(field, makeGroup(voice, "expiry", voice.say("expiryDate"), control, { controlId: id }));
  control.addEventListener("beforeinput", (event) => hopOverSlash(control, event));
  for (const kind of ["input", "change"]) {
    control.addEventListener(kind, (event) => {
      writeWhileTyping(control, event);
      readParts();
      judgeWhileTyping(voice, field);
    });
  }
  control.addEventListener("blur", () => judgeOnLeaving(voice, field));
  return field;
}
