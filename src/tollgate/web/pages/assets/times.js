// @ts-check
// Times in the reader's zone, for pages and for what is added to them later.

/**
 * Writes a time as the reader is used to.
 * @param {Date} moment
 * @returns {string}
 */
export function renderTime(moment) {
  return moment.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}

/**
 * Shows the times of a part of a page in the reader's zone; their titles keep UTC.
 * @param {ParentNode} part
 */
export function showTimes(part) {
  for (const element of part.querySelectorAll("time[datetime]")) {
    const moment = new Date(element.getAttribute("datetime") ?? "");
    if (!Number.isNaN(moment.getTime())) {
      element.textContent = renderTime(moment);
    }
  }
}
