// A term with a short explanation that opens with a click, Enter or Space, and closes with Escape.

import { useId, useRef } from "preact/hooks";

const GAP = 6;

export function Term({ children, text }) {
  const id = useId();
  const button = useRef();
  const note = useRef();
  const place = () => {
    const { left, bottom } = button.current.getBoundingClientRect();
    note.current.style.left = `${Math.max(GAP, Math.min(left, innerWidth - note.current.offsetWidth - GAP))}px`;
    note.current.style.top = `${Math.min(bottom + GAP, innerHeight - note.current.offsetHeight - GAP)}px`;
  };
  return text ? (
    <>
      <button type="button" class="term" ref={button} popovertarget={id}>
        {children}
      </button>
      <span id={id} popover="auto" class="note" ref={note} onToggle={place}>
        {text}
      </span>
    </>
  ) : (
    <>{children}</>
  );
}
