// @ts-check
// Reads values as pages write them into wpwlOptions: booleans as words, lists and objects that are none.

/**
 * @param {unknown} value
 * @param {boolean} usual
 */
export function isOn(value, usual) {
  if (value === undefined || value === null) {
    return usual;
  }
  return value === "false" ? false : Boolean(value);
}

/**
 * @param {unknown} value
 * @returns {string[]}
 */
export function readList(value) {
  return Array.isArray(value) ? value.map(String) : [];
}

/**
 * @param {unknown} value
 * @returns {Record<string, unknown> | null}
 */
export function readObject(value) {
  return value !== null && typeof value === "object" ? /** @type {Record<string, unknown>} */ (value) : null;
}
