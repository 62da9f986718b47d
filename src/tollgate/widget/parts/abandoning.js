// The shopper closed the bank's question or the provider's window. The service gives the attempt up first, so that what
// is said then is true: nothing was charged, and nothing will be.
async function followAbandoned(attempt) {
  const isKnown = attempt.isSettled || attempt.isDoubtful;
  const now = isKnown ? await askSettled(attempt) : await abandon(attempt);
  const { widget } = attempt;
  if (attempt.isLeaving || !isCurrent(attempt)) {
    return false;
  }
  if (now && (isKnown || ["paid", "gone"].includes(now.state))) {
    return followState(widget, now);
  }
  if (now && now.state === "open") {
    sayNotCharged(widget, now);
    return true;
  }
  page.isAnswerOwed = true;
  return followUncertain(attempt, now);
}

// What is being completed this moment cannot be given up, so it is waited for.
async function abandon(attempt) {
  let now = null;
  for (let look = 0; look < BUSY_LOOKS_MAX && !attempt.isLeaving && isCurrent(attempt); look += 1) {
    now = await askToAbandon(attempt);
    if (!now || now.state !== "busy") {
      return now;
    }
    await wait(BUSY_LOOK_MS);
  }
  return now;
}

async function askToAbandon(attempt) {
  try {
    const { status, body } = await getJson(checkoutAddress("abandoned"), { attempt: attempt.id });
    const result = body.result || {};
    if (result.code === "800.700.100") {
      return { state: "busy" };
    }
    if (status !== 200) {
      return readTrouble(makeRefusal(status, result));
    }
    learnAmount(body);
    return body;
  } catch (fault) {
    return readTrouble(fault);
  }
}

function sayNotCharged(widget, { attemptsLeft }) {
  const keys = ["notCharged", ...(attemptsLeft === 0 ? ["attemptsUsedUp"] : [])];
  showMessage(widget, keys.map((key) => widget.voice.say(key)).join(" "), attemptsLeft !== 0);
  widget.message.focus();
}
