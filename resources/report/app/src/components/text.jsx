// A text of a dialogue or model: text nodes only, isolated from the direction of its neighbors, control characters shown.

import { diffWordsWithSpace } from "diff";
import { pieces } from "../text.js";

/** `marks`: strings to highlight. `none`: what is shown for a missing text. `scrolls`: reachable by keyboard. */
export function Text({ children, marks, none = "(no text)", scrolls }) {
  if (children === null || children === undefined) {
    return <span class="muted">{none}</span>;
  }
  return (
    <bdi class="text" tabindex={scrolls ? 0 : null}>
      {pieces(String(children), marks).map((piece) => {
        if (piece.control) {
          return (
            <span class="control" title={piece.name}>
              {piece.control}
            </span>
          );
        }
        return piece.mark ? <mark>{piece.text}</mark> : piece.text;
      })}
    </bdi>
  );
}

/** The words that differ between two texts. */
export function TextDiff({ before, after }) {
  const segmenter = new Intl.Segmenter(undefined, { granularity: "word" });
  const parts = diffWordsWithSpace(before ?? "", after ?? "", { intlSegmenter: segmenter });
  return (
    <span class="diff">
      {parts.map(({ value, added, removed }) => {
        const Element = added ? "ins" : removed ? "del" : "span";
        return (
          <Element>
            <Text>{value}</Text>
          </Element>
        );
      })}
    </span>
  );
}
