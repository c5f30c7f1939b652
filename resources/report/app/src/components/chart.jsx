// A chart of Observable Plot, drawn again when its width or its options change, with its data as a table.

import { plot } from "@observablehq/plot";
import { useEffect, useRef, useState } from "preact/hooks";

/**
 * A chart.
 *
 * `options(width)` returns the options of Plot; `keys` are what they depend on; `label` describes the chart to screen
 * readers; the children are its table.
 */
export function Chart({ label, options, keys, children }) {
  const frame = useRef();
  const width = useWidth(frame);
  useEffect(() => {
    if (!width) {
      return undefined;
    }
    const figure = plot({ ...options(width), width, className: "plot", ariaLabel: label });
    figure.setAttribute("role", "img");
    // The chart is one image with one label; Plot also labels its groups, which have no role that may be labelled.
    for (const group of figure.querySelectorAll("g[aria-label]")) {
      group.removeAttribute("aria-label");
    }
    frame.current.replaceChildren(figure);
    return () => figure.remove();
  }, [width, ...keys]);
  return (
    <figure class="chart">
      <div ref={frame} class="frame" />
      {children && (
        <details>
          <summary>Data as a table</summary>
          {children}
        </details>
      )}
    </figure>
  );
}

function useWidth(element) {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.round(entry.contentRect.width)));
    observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return width;
}
