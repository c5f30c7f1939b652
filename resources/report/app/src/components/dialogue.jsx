// The messages of a dialogue, windowed, with evidence highlighted and a button to jump from one to the next.

import { useEffect, useState } from "preact/hooks";
import { count } from "../format.js";
import { Text } from "./text.jsx";
import { Windowed } from "./windowed.jsx";

const MESSAGE_HEIGHT = 96;

/**
 * `messages`: `[{message_id, checkpoint, role, speaker, text, sent_at, reason}]`. `evidence` and `recalled`: Sets of
 * message ids. `target`: `{id}` of the message to scroll to; a new object scrolls again. `until`: the messages that were
 * said before the question; later ones are drawn faint.
 */
export function Dialogue({ label, messages, evidence = new Set(), recalled = new Set(), target, until = messages.length }) {
  const places = messages.flatMap(({ message_id }, i) => (evidence.has(message_id) ? [i] : []));
  const [jump, setJump] = useState(places.length ? { index: places[0], quiet: true } : null);
  useEffect(() => {
    const index = target ? messages.findIndex(({ message_id }) => message_id === target.id) : -1;
    if (index >= 0) {
      setJump({ index });
    }
  }, [target, messages]);
  const next = (step) => {
    const at = places.indexOf(jump?.index);
    const to = at < 0 ? (step > 0 ? 0 : places.length - 1) : (at + step + places.length) % places.length;
    setJump({ index: places[to] });
  };
  return (
    <div class="dialogue">
      <p class="bar">
        <span class="muted">{count(messages.length, "message")}</span>
        {places.length > 0 && (
          <>
            <button type="button" class="action" onClick={() => next(-1)}>
              Previous evidence
            </button>
            <button type="button" class="action" onClick={() => next(1)}>
              Next evidence
            </button>
            <span class="muted" role="status">
              {places.includes(jump?.index) ? `${places.indexOf(jump.index) + 1} of ${places.length}` : `${places.length} in the dialogue`}
            </span>
          </>
        )}
      </p>
      <Windowed
        label={label}
        count={messages.length}
        height={MESSAGE_HEIGHT}
        target={jump}
        itemClass={(i) => (i === jump?.index ? "current" : null)}
      >
        {(i) => (
          <Message
            message={messages[i]}
            first={i === 0 || messages[i - 1].checkpoint !== messages[i].checkpoint}
            evidence={evidence.has(messages[i].message_id)}
            recalled={recalled.has(messages[i].message_id)}
            later={i >= until}
          />
        )}
      </Windowed>
    </div>
  );
}

function Message({ message, first, evidence, recalled, later }) {
  const { role, speaker, text, sent_at, checkpoint, message_id, cut, reason } = message;
  return (
    <>
      {first && <p class="divider">Checkpoint {checkpoint}</p>}
      <article class={["message", role, evidence && "evidence", later && "later"].filter(Boolean).join(" ")} data-message={message_id}>
        <p class="head">
          <strong>{speaker ? <Text>{speaker}</Text> : role}</strong>
          {sent_at && <span>{sent_at}</span>}
          <code>{message_id}</code>
          {evidence && <span class="tag evidence">evidence</span>}
          {recalled && <span class="tag">recalled</span>}
          {later && <span class="tag">after the question</span>}
          {cut && <span class="tag warn">cut at the token limit</span>}
        </p>
        <Text none={reason ?? "(text left out)"}>{text}</Text>
      </article>
    </>
  );
}
