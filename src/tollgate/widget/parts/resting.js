// While a payment is under way the fields and the other forms rest: nothing can be changed, and nothing else be pressed.
function rest(attempt) {
  const { widget } = attempt;
  if (attempt.resting.length) {
    return;
  }
  const own = [...widget.form.children].filter((node) => !node.contains(widget.button));
  const others = listOthers(attempt).map(({ block, container }) => block || container);
  attempt.resting = [...own, ...others].filter((node) => !node.inert);
  const focused = document.activeElement;
  // What rests loses the focus, so whoever pressed Enter in a field is kept within the form.
  if (attempt.resting.some((node) => node.contains(focused))) {
    attempt.focused = focused;
    widget.button.focus();
  }
  attempt.resting.forEach((node) => {
    node.inert = true;
  });
}

// Before anything in the form gets the focus, and at every end. Who has it elsewhere by now keeps it there.
function wake(attempt) {
  const { focused, resting, widget } = attempt;
  resting.forEach((node) => {
    node.inert = false;
  });
  attempt.resting = [];
  attempt.focused = null;
  if (focused && document.activeElement === widget.button) {
    focused.focus();
  }
}
