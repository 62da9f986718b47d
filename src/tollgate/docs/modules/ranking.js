// @ts-check
// How the search finds and orders entries of the index. It knows nothing of the page.

/** @typedef {{ pages: { kind: string, path: string, title: string, entries: [string, string, string][] }[] }} SearchIndex */
/** @typedef {{ kind: string, page: string, path: string, title: string, note: string, plainTitle: string, words: string[], noteWords: string[] }} SearchEntry */

const FUZZY_LENGTH_MIN = 5;
const SPLITS = /[^\p{L}\p{N}]+/u;
/** Whole titles come before parts of them, and titles before notes. */
const POINTS = { whole: 1000, beginning: 500, within: 300, word: 60, prefix: 40, inside: 20, note: 10, notePrefix: 6, typo: 3 };
/** Of two entries that fit equally well, what explains comes before single rows. */
const KIND_POINTS = new Map([["Text", 9], ["Endpoint", 8], ["Word", 7], ["Group of results", 6], ["Event", 5], ["Parameter", 4], ["Result code", 3]]);

/**
 * Takes a text apart into the words by which it is found.
 * @param {string} text
 * @returns {string[]}
 */
export function splitWords(text) {
  return text.toLowerCase().split(SPLITS).filter(Boolean);
}

/**
 * Lays the index out as entries that can be searched.
 * @param {SearchIndex} index
 * @returns {SearchEntry[]}
 */
export function readIndex(index) {
  return index.pages.flatMap(({ kind, path, title: page, entries }) =>
    entries.map(([title, note, rest]) => ({
      kind,
      page,
      path: path + rest,
      title,
      note,
      plainTitle: title.toLowerCase(),
      words: splitWords(title),
      noteWords: splitWords(`${note} ${page}`),
    })),
  );
}

/**
 * Is true if one letter was added, left out, or exchanged, or two neighbours were swapped.
 * @param {string} typed
 * @param {string} word
 * @returns {boolean}
 */
export function isNearly(typed, word) {
  if (Math.abs(typed.length - word.length) > 1) {
    return false;
  }
  let start = 0;
  while (start < typed.length && typed[start] === word[start]) {
    start += 1;
  }
  const [left, right] = [typed.slice(start), word.slice(start)];
  return (
    left.slice(1) === right.slice(1) ||
    left.slice(1) === right ||
    left === right.slice(1) ||
    (left[0] === right[1] && left[1] === right[0] && left.slice(2) === right.slice(2))
  );
}

/**
 * Returns the points of one word that was typed; 0 if the entry does not have it.
 * @param {string} typed
 * @param {SearchEntry} entry
 * @returns {number}
 */
function rateWord(typed, entry) {
  if (entry.words.includes(typed)) {
    return POINTS.word;
  }
  if (entry.words.some((word) => word.startsWith(typed))) {
    return POINTS.prefix;
  }
  if (entry.plainTitle.includes(typed)) {
    return POINTS.inside;
  }
  if (entry.noteWords.includes(typed)) {
    return POINTS.note;
  }
  if (entry.noteWords.some((word) => word.startsWith(typed))) {
    return POINTS.notePrefix;
  }
  const mayBeMistyped = typed.length >= FUZZY_LENGTH_MIN;
  return mayBeMistyped && [...entry.words, ...entry.noteWords].some((word) => isNearly(typed, word)) ? POINTS.typo : 0;
}

/**
 * Returns the points of an entry; 0 if it lacks a word.
 * @param {string} asked
 * @param {string[]} words
 * @param {SearchEntry} entry
 * @returns {number}
 */
function rateEntry(asked, words, entry) {
  const points = words.map((word) => rateWord(word, entry));
  if (words.length === 0 || points.includes(0)) {
    return 0;
  }
  const whole =
    (entry.plainTitle === asked && POINTS.whole) ||
    (entry.plainTitle.startsWith(asked) && POINTS.beginning) ||
    (entry.plainTitle.includes(asked) && POINTS.within) ||
    0;
  // A short title says more of the word that it has than a long one.
  const brevity = 1 / (1 + entry.words.length);
  // A whole page says more of its title than a section of another.
  const page = entry.path.includes("#") ? 0 : 2;
  return whole + points.reduce((sum, each) => sum + each, 0) / words.length + (KIND_POINTS.get(entry.kind) ?? 0) + brevity + page;
}

/**
 * Returns the entries that have all words, the best first.
 * @param {SearchEntry[]} entries
 * @param {string} text
 * @returns {SearchEntry[]}
 */
export function findEntries(entries, text) {
  const asked = text.trim().toLowerCase().replace(/\s+/g, " ");
  const words = splitWords(asked);
  return entries
    .map((entry) => ({ entry, points: rateEntry(asked, words, entry) }))
    .filter(({ points }) => points > 0)
    .sort((first, second) => second.points - first.points)
    .map(({ entry }) => entry);
}
