import { withoutInvisible } from '../core/invisible.ts';

/** Foreign text of an error as one line without control and invisible characters; of a longer text the first `maxChars`, then `…`. */
export function oneLine(text: string, maxChars: number): string {
  const line = withoutInvisible(text.slice(0, maxChars).replaceAll(/\s+/g, ' '));
  return text.length > maxChars ? `${line}…` : line;
}
