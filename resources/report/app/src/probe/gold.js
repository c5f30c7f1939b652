// The gold of a probe and the option that a reply chose, as texts.

/** Return the gold as a text; state values that are stored as JSON become lines `variable: value`. */
export function goldText({ gold }) {
  const values = stateValues(gold);
  return values ? Object.entries(values).map(([name, value]) => `${name}: ${value}`).join("\n") : gold;
}

/** Return the object that a JSON text holds, or null where it holds something else. */
export function stateValues(text) {
  if (!text?.startsWith("{")) {
    return null;
  }
  try {
    return JSON.parse(text);
  } catch {
    return null; // A text that only begins like JSON is shown as it is.
  }
}

/** Return the number of the option that a reply chose, from 1, or null. */
export function chosenOption(reply) {
  const number = Number(reply?.parsed ?? NaN);
  return Number.isInteger(number) ? number : null;
}
