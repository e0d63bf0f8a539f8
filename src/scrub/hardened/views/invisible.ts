import { editMatches, type View } from '../../../text/view.ts';

/**
 * NUL (every second character of UTF-16 that was read as bytes), soft hyphen, joiners and zero-width spaces, direction
 * marks, variation selectors, byte order mark, tags.
 */
const INVISIBLE = new RegExp(
  [
    '[\\0\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff]',
    '[\\u034f\\ufe00-\\ufe0f]',
    '\\udb40[\\udc00-\\udc7f]',
  ].join('|'),
  'g',
);

/** Without the characters that nobody sees. */
export function withoutInvisible(text: string): View | null {
  return editMatches(text, INVISIBLE, () => '');
}
