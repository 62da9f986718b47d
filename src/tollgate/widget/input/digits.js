// @ts-check
// Digits as people type and paste them, the blocks they are shown in, and where the caret stands afterwards.

// The zeros of the scripts whose digits keyboards in use produce; nine digits follow each.
const ZEROS = [
  0x30, 0x660, 0x6f0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20, 0x1040,
  0x17e0, 0x1810, 0xff10,
];

export const FOURS = [4, 4, 4, 4];

/**
 * Returns the digit that a character stands for, as one of `0` to `9`, or nothing.
 * @param {string} character
 */
export function readDigit(character) {
  const code = character.codePointAt(0) ?? 0;
  const zero = ZEROS.find((start) => code >= start && code < start + 10);
  return zero === undefined ? "" : String(code - zero);
}

/**
 * Returns the digits of a text. Blanks, dashes and marks of direction are left out.
 * @param {string} text
 */
export function readDigits(text) {
  return [...text].map(readDigit).join("");
}

/** @param {readonly number[]} sizes */
export function addUp(sizes) {
  return sizes.reduce((sum, size) => sum + size, 0);
}

/**
 * Writes digits in blocks. Digits beyond the blocks of their brand are written in fours, as on its longer cards.
 * @param {string} digits
 * @param {readonly number[]} grouping
 */
export function groupDigits(digits, grouping) {
  const sizes = grouping.length > 0 && digits.length <= addUp(grouping) ? grouping : FOURS;
  /** @type {string[]} */
  const blocks = [];
  for (let start = 0; start < digits.length; ) {
    const size = sizes[Math.min(blocks.length, sizes.length - 1)];
    blocks.push(digits.slice(start, start + size));
    start += size;
  }
  return blocks.join(" ");
}

/**
 * Returns the place in a text behind that many of its digits.
 * @param {string} text
 * @param {number} count
 */
export function placeAfter(text, count) {
  if (count === 0) return 0;
  let seen = 0;
  for (let place = 0; place < text.length; place += 1) {
    if (readDigit(text[place])) seen += 1;
    if (seen === count) return place + 1;
  }
  return text.length;
}

/**
 * Returns what is left when a caret beside a separator deletes: the digit beyond it goes, not the separator.
 * @param {string} text
 * @param {number} caret
 * @param {boolean} isForward
 */
export function deleteAcross(text, caret, isForward) {
  if (isForward) {
    let place = caret;
    while (place < text.length && !readDigit(text[place])) place += 1;
    return place === caret ? null : { text: text.slice(0, caret) + text.slice(place + 1), caret };
  }
  let place = caret;
  while (place > 0 && !readDigit(text[place - 1])) place -= 1;
  return place === caret || place === 0 ? null : { text: text.slice(0, place - 1) + text.slice(caret), caret: place - 1 };
}
