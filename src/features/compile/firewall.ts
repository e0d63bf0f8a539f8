import type { Item } from './item.ts';

/** Characters of a text that pass. An output never does: an event has its id only. */
const SHOWN_MAX_CHARS = 400;
/** Of a longer text, this much of the beginning and of the end. */
const KEPT_CHARS = 180;

/** Stage 4: a long text is replaced by its beginning and its end; the log and the stored output keep the whole. */
export function applyFirewall(items: readonly Item[]): Item[] {
  return items.map((item) => {
    if (item.shown.length <= SHOWN_MAX_CHARS) return item;
    const characters = Array.from(item.shown);
    if (characters.length <= SHOWN_MAX_CHARS) return item;
    const [head, tail] = [characters.slice(0, KEPT_CHARS).join(''), characters.slice(-KEPT_CHARS).join('')];
    return { ...item, shown: `${head} … (${characters.length - 2 * KEPT_CHARS} characters) … ${tail}` };
  });
}
