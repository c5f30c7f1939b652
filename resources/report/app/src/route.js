// The page and its state in the URL fragment: `#/PAGE?key=value`. Nothing else holds state that a link should restore.

import { useEffect, useState } from "preact/hooks";

/** Return the fragment of a page with parameters. Empty ones are left out; an array is repeated. */
export function href(page, params = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(params)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== null && each !== undefined && each !== "") {
        query.append(key, each);
      }
    }
  }
  const text = query.toString();
  return `#/${page}${text && "?" + text}`;
}

/** Return the page and the parameters of a fragment. A parameter that occurs more than once is an array. */
export function parse(fragment) {
  const [page, query = ""] = fragment.replace(/^#?\/?/, "").split(/\?(.*)/s);
  const params = {};
  for (const [key, value] of new URLSearchParams(query)) {
    params[key] = key in params ? [params[key], value].flat() : value;
  }
  return { page: page || "leaderboard", params };
}

/** Go to a page. `replace` keeps the former state out of the history, as for text being typed. */
export function go(page, params, { replace = false } = {}) {
  const target = href(page, params);
  if (replace) {
    history.replaceState(null, "", target);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = target;
  }
}

/** Return the current page and parameters, and render again when they change. */
export function useRoute() {
  const [route, setRoute] = useState(() => parse(location.hash));
  useEffect(() => {
    const follow = () => setRoute(parse(location.hash));
    addEventListener("hashchange", follow);
    return () => removeEventListener("hashchange", follow);
  }, []);
  return route;
}
