// States of a page whose data are being loaded, are missing, or are damaged.

import { useEffect, useState } from "preact/hooks";

/** Return `{value, error}` of a promise that `read()` makes; `read` runs again when `keys` change. */
export function useData(read, keys) {
  const [state, setState] = useState({});
  useEffect(() => {
    let current = true;
    setState({});
    Promise.resolve()
      .then(read)
      .then(
        (value) => current && setState({ value }),
        (error) => current && setState({ error }),
      );
    return () => {
      current = false;
    };
  }, keys);
  return state;
}

/** Show the children with the loaded value, or that it is loading, or why it cannot be shown. */
export function Loaded({ state, children }) {
  if (state.error) {
    return <Problem>{state.error.message}</Problem>;
  }
  return state.value === undefined ? (
    <p class="loading" role="status">
      Loading…
    </p>
  ) : (
    children(state.value)
  );
}

/** State a problem, with a link to a page that works. */
export function Problem({ children, link }) {
  return (
    <div class="problem" role="alert">
      <p>{children}</p>
      {link && (
        <p>
          <a href={link.href}>{link.label}</a>
        </p>
      )}
    </div>
  );
}
