// Numbers, times and names as texts, the same on every page.

const MINUS = "−";
export const NONE = "–";

/** Return a metric's value as a text: in percent where the metric is a share, otherwise with three decimals. */
export function score(value, metric, { sign = false } = {}) {
  if (value === null || value === undefined || Number.isNaN(value)) {
    return NONE;
  }
  return metric?.percent ? fixed(value * 100, 1, sign) : fixed(value, 3, sign);
}

/** Return a number with fixed decimals, a true minus sign, and a plus sign if `sign`. */
export function fixed(value, decimals, sign = false) {
  if (value === null || value === undefined || Number.isNaN(value)) {
    return NONE;
  }
  const rounded = Number(value.toFixed(decimals));
  const prefix = rounded < 0 ? MINUS : sign && rounded > 0 ? "+" : "";
  return prefix + Math.abs(rounded).toLocaleString("en", fraction(decimals, decimals));
}

/** Return an amount with about three significant digits and thousands separated. */
export function amount(value) {
  if (value === null || value === undefined || Number.isNaN(value)) {
    return NONE;
  }
  const size = Math.abs(value);
  const decimals = size >= 100 || Number.isInteger(value) ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return size > 0 && size < 0.0005 ? value.toExponential(1) : fixed(value, decimals);
}

/** Return a p value as a text. */
export function probability(value) {
  if (value === null || value === undefined) {
    return NONE;
  }
  return value < 0.001 ? "< 0.001" : fixed(value, 3);
}

/** Return an ISO time as a date and minute in UTC. */
export function moment(iso) {
  const date = new Date(iso);
  return Number.isNaN(date.valueOf()) ? String(iso ?? NONE) : `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** Return an interval as a text; `reason` is why there is none. */
export function interval({ low, high }, text, reason) {
  const missing = low === null || low === undefined;
  return missing ? `no interval${reason ? `: ${reason}` : ""}` : `${text(low)} to ${text(high)}`;
}

/** Return a count with its noun. */
export function count(number, noun) {
  return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

function fraction(minimum, maximum) {
  return { minimumFractionDigits: minimum, maximumFractionDigits: maximum };
}
