// Says what is wrong with a field: it is empty, incomplete, not valid or expired. A page's own text for the field counts
// for all of them.
const KIND_TEXTS = { empty: "emptyError", incomplete: "incompleteError", invalid: "invalidError", expired: "expiredError" };

function sayFault(voice, field, key) {
  const own = key === "cardBinError" ? key : [key, usualError(field)].find(voice.isOwn);
  return own ? voice.say(own) : voice.say(KIND_TEXTS[findKind(field)], { field: field.called });
}

// What the field itself finds nothing wrong with, the service has refused.
function findKind(field) {
  if (field.isEmpty()) {
    return "empty";
  }
  return (field.judge() && field.tellKind()) || "invalid";
}
