// @ts-check
// Opens a method of the accordion.

import { getClosest, getParent, setHidden } from "./dom.js";
import { revealMessage } from "./messages.js";
import { isClosed } from "./methods.js";
import { labelButton, styleButton } from "./payButton.js";
/** @import { Method, Place, Widget } from "../types/page.d.ts" */

/**
 * Opens a method, whose form gets the button: the Enter key in a field presses the button of the field's form.
 * @param {Place} place
 * @param {Method} method
 */
export function openMethod(place, method) {
  const { widget } = method;
  const methods = place.methods || [];
  // Read before anything changes: this throws where the page removed a part, and then the open method stays open.
  const list = getClosest(method.radio, ".wpwl-methods").classList;
  const rows = methods.map(({ panel }) => getParent(panel).classList);
  // What is open from the start opens without a movement, so that nothing below it jumps.
  list.toggle("wpwl-methods-used", Boolean(place.open));
  place.open = method;
  method.choose();
  for (const [index, each] of methods.entries()) {
    const isOpen = each === method;
    each.radio.checked = isOpen;
    rows[index].toggle("wpwl-selected", isOpen);
    setHidden(each.panel, !isOpen || Boolean(each.isBare) || !each.panel.firstChild);
    revealMessage(each.widget);
  }
  widget.button.setAttribute("form", widget.form.id);
  styleButton(widget);
  labelButton(widget);
}

/**
 * Opens the method of a form that is used without having been opened, such as by the page's own code.
 * @param {Widget} widget
 */
export function openMethodOf(widget) {
  const method = widget.place.methods?.find((each) => each.widget === widget);
  if (method && isClosed(widget)) {
    openMethod(widget.place, method);
  }
}
