import { ENTITY_NAMES, meaningOf } from '../../../text/escapes.ts';
import { editMatches, type View } from '../../../text/view.ts';

const ENTITIES = new RegExp(`&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|(?:${ENTITY_NAMES}););?`, 'g');

/** HTML and XML with its entities resolved. */
export function withoutEntities(text: string): View | null {
  if (!text.includes('&')) return null;
  return editMatches(text, ENTITIES, ([written]) => meaningOf(written));
}
