// A list of many items of which only the visible ones are in the document. Items may have any height.

import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from "@tanstack/virtual-core";
import { useEffect, useLayoutEffect, useReducer, useRef, useState } from "preact/hooks";

const OVERSCAN = 4;
const STEPS = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };

/**
 * A windowed list.
 *
 * `count` items are drawn by `children(index)`; `height` is the usual height of one in pixels. `target`: `{index, quiet}` of the
 * item to scroll to and, unless `quiet`, to focus; a new object scrolls again. Arrow keys, Page Up and Down, Home and End move between items.
 */
export function Windowed({ label, count, height, target, itemClass, children }) {
  const frame = useRef();
  const active = useRef(0);
  const [, redraw] = useReducer((n) => n + 1, 0);
  const options = {
    count,
    overscan: OVERSCAN,
    estimateSize: () => height,
    getScrollElement: () => frame.current,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw(),
  };
  const [list] = useState(() => new Virtualizer(options));
  list.setOptions(options);
  useLayoutEffect(() => list._didMount(), []);
  useLayoutEffect(() => list._willUpdate());
  const focus = (index, align) => {
    active.current = Math.max(0, Math.min(count - 1, index));
    list.scrollToIndex(active.current, { align });
    const reach = (tries) =>
      requestAnimationFrame(() => {
        const item = frame.current?.querySelector(`[data-index="${active.current}"]`);
        if (item) {
          (item.querySelector("a, button") ?? item).focus({ preventScroll: true });
        } else if (tries) {
          reach(tries - 1);
        }
      });
    reach(30);
  };
  useEffect(() => {
    if (target?.quiet && count > 0) {
      list.scrollToIndex(target.index, { align: "center" });
    } else if (target && count > 0) {
      focus(target.index, "center");
    }
  }, [target]);
  const onKeyDown = (event) => {
    const step = STEPS[event.key];
    if (step !== undefined && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      event.stopPropagation();
      const from = event.target.closest("[data-index]")?.dataset.index;
      focus(from === undefined ? active.current : Number(from) + step, "auto");
    }
  };
  return (
    <div class="windowed" ref={frame} tabindex={0} role="region" aria-label={label} onKeyDown={onKeyDown}>
      <ol style={{ height: `${list.getTotalSize()}px` }}>
        {list.getVirtualItems().map(({ index, start, key }) => (
          <li
            key={key}
            data-index={index}
            ref={list.measureElement}
            tabindex={-1}
            class={itemClass?.(index)}
            aria-setsize={count}
            aria-posinset={index + 1}
            style={{ transform: `translateY(${start}px)` }}
          >
            {children(index)}
          </li>
        ))}
      </ol>
    </div>
  );
}
