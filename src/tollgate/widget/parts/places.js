// @ts-check
// Shows our nodes behind an element of the page, which stays where it is, hidden. Frameworks remove, move and show again
// what they have made, and fail where it has left the page; our nodes follow it.

import { setHidden } from "./dom.js";
import { closeFrame } from "./frames.js";
import { page } from "./state.js";

export const UNLOADED = "data-wpwl-unloaded";

/**
 * Elements of the page whose place our forms take.
 * @type {WeakSet<Element>}
 */
export const mountedElements = new WeakSet();

/** @type {Map<HTMLElement, { nodes: HTMLElement[], adopted: Element[] }>} */
const shownAt = new Map();

/**
 * Shows nodes at an element and removes those that were shown before. `adopted` are children of the element that stand in our
 * nodes meanwhile.
 * @param {HTMLElement} element
 * @param {HTMLElement[]} nodes
 * @param {Element[]} [adopted]
 */
export function showAt(element, nodes, adopted) {
  const earlier = shownAt.get(element) || { nodes: [], adopted: [] };
  const first = earlier.nodes.find((node) => node.isConnected);
  shownAt.set(element, { nodes, adopted: adopted || earlier.adopted });
  element.removeAttribute(UNLOADED);
  setHidden(element, true);
  // React removes a child by the parent it was made for, also when it stands in our form.
  const removeChild = (/** @type {Node} */ child) => Node.prototype.removeChild.call(child.parentNode || element, child);
  element.removeChild = /** @type {Node["removeChild"]} */ (removeChild);
  if (first) {
    first.before(...nodes);
  } else {
    element.after(...nodes);
  }
  earlier.nodes.forEach((node) => node.remove());
}

/**
 * Removes or moves our nodes where their elements were removed or moved. Nodes that stand elsewhere stay there: pages move
 * them on purpose.
 * @param {MutationRecord[]} records
 */
export function followElements(records) {
  const added = new Set(records.flatMap((record) => [...record.addedNodes]));
  [...shownAt].forEach(([element, { nodes }]) => {
    if (!element.isConnected) {
      takeBack(element);
    } else if (added.has(element)) {
      moveBehind(element, nodes);
    }
  });
}

/**
 * Moves nodes behind their element. moveBefore keeps what was typed in frames; older browsers load them again.
 * @param {HTMLElement} element
 * @param {HTMLElement[]} nodes
 */
function moveBehind(element, nodes) {
  const parent = /** @type {Node & { moveBefore?: Node["insertBefore"] }} */ (element.parentNode);
  const move = parent.moveBefore || parent.insertBefore;
  const there = nodes.filter((node) => node.isConnected);
  there.reverse().forEach((node) => move.call(parent, node, element.nextSibling));
}

/**
 * Makes an element as it was, but hidden. When a framework shows it again, it is mounted like a new one.
 * @param {HTMLElement} element
 */
function takeBack(element) {
  const { nodes, adopted } = shownAt.get(element) || { nodes: [], adopted: [] };
  const [gone, left] = [true, false].map((is) => page.widgets.filter((widget) => (widget.place.element === element) === is));
  shownAt.delete(element);
  mountedElements.delete(element);
  gone.flatMap((widget) => widget.frames).forEach(closeFrame);
  page.widgets = left;
  nodes.forEach((node) => node.remove());
  Reflect.deleteProperty(element, "removeChild");
  element.append(...adopted.filter((child) => child.parentNode));
}

/** Takes all elements back. They are mounted again only by a script that finds no newer ones. */
export function takeAllBack() {
  [...shownAt.keys()].forEach((element) => {
    takeBack(element);
    element.setAttribute(UNLOADED, "");
  });
}
