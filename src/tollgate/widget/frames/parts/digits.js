// Digits as people type and paste them, the blocks they are shown in, and where the caret stands afterwards.

// The zeros of the scripts whose digits keyboards in use produce; nine digits follow each.
const ZEROS = [
  0x30, 0x660, 0x6f0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040,
  0x17e0, 0x1810, 0xff10,
];
const FOURS = [4, 4, 4, 4];

/** A member of its own, not one that every object inherits. */
function has(record, name) {
  return Object.prototype.hasOwnProperty.call(record, name);
}

/** The digit a character stands for, as one of `0` to `9`, or nothing. */
function readDigit(character) {
  const code = character.codePointAt(0);
  const zero = ZEROS.find((start) => code >= start && code < start + 10);
  return zero === undefined ? "" : String(code - zero);
}

/** Everything that is no digit is left out: blanks, dashes, marks of direction. */
function readDigits(text) {
  return [...text].map(readDigit).join("");
}

function addUp(sizes) {
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Digits in blocks; what a brand's blocks do not hold is printed in fours on its longer cards. */
function groupDigits(digits, grouping) {
  const sizes = grouping.length > 0 && digits.length <= addUp(grouping) ? grouping : FOURS;
  const blocks = [];
  for (let start = 0; start < digits.length; ) {
    const size = sizes[Math.min(blocks.length, sizes.length - 1)];
    blocks.push(digits.slice(start, start + size));
    start += size;
  }
  return blocks.join(" ");
}

/** The place in a text behind that many of its digits. */
function placeAfter(text, count) {
  if (count === 0) return 0;
  let seen = 0;
  for (let place = 0; place < text.length; place += 1) {
    if (readDigit(text[place])) seen += 1;
    if (seen === count) return place + 1;
  }
  return text.length;
}

/** The text that is left when a caret in front of a separator deletes: the digit beyond it goes, not the separator. */
function deleteAcross(text, caret, isForward) {
  if (isForward) {
    let place = caret;
    while (place < text.length && !readDigit(text[place])) place += 1;
    return place === caret ? null : { text: text.slice(0, caret) + text.slice(place + 1), caret };
  }
  let place = caret;
  while (place > 0 && !readDigit(text[place - 1])) place -= 1;
  return place === caret || place === 0 ? null : { text: text.slice(0, place - 1) + text.slice(caret), caret: place - 1 };
}
