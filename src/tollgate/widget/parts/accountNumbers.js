// Numbers of bank accounts: how they are written in groups while they are typed, and what is sent of them.
const IBAN_LENGTH_MAX = 34;
const GROUP = 4;

// People paste them with blanks, dots, dashes, in small letters, and with the word in front.
function squeeze(text) {
  const plain = [...text].map((character) => readDigit(character) || character).join("");
  return plain.replace(/[^\p{L}\p{N}]/gu, "").toUpperCase().replace(/^IBAN(?=[A-Z]{2}\d)/, "");
}

// Letters, digits and what people put between them. Anything else begins no number of whatever kind.
function isNumberLike(text) {
  return /^[\p{L}\p{N}\p{Cf}\p{Pd}\s./]+$/u.test(text);
}

function isBic(text) {
  return BIC.test(squeeze(text));
}

function findIbanLength(iban) {
  const rows = Object.values(page.configuration.brands).map(({ ibanLengths }) => (ibanLengths || {})[iban.slice(0, 2)]);
  return rows.find(Boolean);
}

// The length of the country, where the service has told it, and the check digits of ISO 13616.
function isIban(text) {
  const iban = squeeze(text);
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban) || iban.length !== (findIbanLength(iban) || iban.length)) {
    return false;
  }
  const moved = iban.slice(4) + iban.slice(0, 4);
  const digits = moved.replace(/[A-Z]/g, (letter) => String(letter.charCodeAt(0) - 55));
  return [...digits].reduce((rest, digit) => (rest * 10 + Number(digit)) % 97, 0) === 1;
}

function isPartOfIban(text) {
  const iban = squeeze(text);
  const isBegun = /^[A-Z]{0,2}$|^[A-Z]{2}\d{1,2}$|^[A-Z]{2}\d{2}[A-Z0-9]*$/.test(iban);
  return isBegun && iban.length < (findIbanLength(iban) || 15);
}

function groupIban(iban) {
  return iban.replace(/.{4}(?=.)/g, "$& ");
}

// In fours, with the caret behind the same character. Who deletes a blank means the character beyond it.
function groupWhileTyping(control) {
  let written = control.value;
  const write = (event) => {
    if (event.isComposing) {
      return;
    }
    const caret = control.selectionStart === null ? control.value.length : control.selectionStart;
    let iban = squeeze(control.value);
    let before = Math.min(squeeze(control.value.slice(0, caret)).length, iban.length);
    if (iban === squeeze(written) && /^deleteContent(Back|For)ward$/.test(event.inputType)) {
      before -= event.inputType === "deleteContentBackward" && before ? 1 : 0;
      iban = iban.slice(0, before) + iban.slice(before + 1);
    }
    written = groupIban(iban.slice(0, IBAN_LENGTH_MAX));
    if (written !== control.value) {
      control.value = written;
      if (document.activeElement === control) {
        const place = before + Math.max(0, Math.ceil(before / GROUP) - 1);
        control.setSelectionRange(place, place);
      }
    }
  };
  control.addEventListener("input", write);
  control.addEventListener("change", write);
}
