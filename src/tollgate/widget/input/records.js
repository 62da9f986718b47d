// @ts-check
// Looks at values that came from somewhere else, such as messages and options of a page.

/**
 * Whether a record has a member of its own of this name, and not one that every object inherits.
 * @template {object} Members
 * @param {Members} record
 * @param {PropertyKey} name
 * @returns {name is keyof Members}
 */
export function has(record, name) {
  return Object.prototype.hasOwnProperty.call(record, name);
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
export function isRecord(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
