// Shows what is ours at an element of the page. The element stays where it is, hidden, as the anchor: frameworks remove,
// move and show again what they have made, and fail where it has left the page. Our nodes follow it.
const UNLOADED = "data-wpwl-unloaded";
const shownAt = new Map();

// Every display goes through here and replaces the one before. `adopted` are children of the element that stand in
// our nodes meanwhile.
function showAt(element, nodes, adopted) {
  const earlier = shownAt.get(element) || { nodes: [], adopted: [] };
  const first = earlier.nodes.find((node) => node.isConnected);
  shownAt.set(element, { nodes, adopted: adopted || earlier.adopted });
  element.removeAttribute(UNLOADED);
  setHidden(element, true);
  // React removes a child by the parent it was made for, also when it stands in our form.
  element.removeChild = (child) => Node.prototype.removeChild.call(child.parentNode || element, child);
  if (first) {
    first.before(...nodes);
  } else {
    element.after(...nodes);
  }
  earlier.nodes.forEach((node) => node.remove());
}

// Whether nodes stand directly behind their element is not checked: pages move them elsewhere on purpose.
function followElements(records) {
  const added = new Set(records.flatMap((record) => [...record.addedNodes]));
  [...shownAt.keys()].forEach((element) => {
    if (!element.isConnected) {
      takeBack(element);
    } else if (added.has(element)) {
      moveBehind(element, shownAt.get(element).nodes);
    }
  });
}

// Frames that are moved by moveBefore keep what was typed; older browsers load them anew.
function moveBehind(element, nodes) {
  const parent = element.parentNode;
  const move = parent.moveBefore || parent.insertBefore;
  const there = nodes.filter((node) => node.isConnected);
  there.reverse().forEach((node) => move.call(parent, node, element.nextSibling));
}

// The element is as it was, but hidden. When a framework shows it again, it is mounted like a new one.
function takeBack(element) {
  const { nodes, adopted } = shownAt.get(element);
  const [gone, left] = [true, false].map((is) => page.widgets.filter((widget) => (widget.place.element === element) === is));
  shownAt.delete(element);
  TAKEN.delete(element);
  gone.flatMap((widget) => widget.frames).forEach(closeFrame);
  page.widgets = left;
  nodes.forEach((node) => node.remove());
  delete element.removeChild;
  element.append(...adopted.filter((child) => child.parentNode));
}

// A form that was unloaded serves again only for a script that finds no newer one.
function takeAllBack() {
  [...shownAt.keys()].forEach((element) => {
    takeBack(element);
    element.setAttribute(UNLOADED, "");
  });
}
