import type { Span } from '../text/offset-map.ts';
import { entropyOf } from './exact/entropy.ts';

/** Shorter parts, and parts that repeat themselves, do not show that a value is a list: a password may have a comma. */
const MIN_PART_CHARS = 16;
const MIN_ENTROPY = 3;
const LIST = /^[\w.+/=~-]{16,}(?: ?[,;|] ?[\w.+/=~-]{16,})+$/;
const PART = /[^,;| ]+/g;

/** The credentials in a list such as `TOKENS=a,b`; null if a value is no such list. */
export function listedIn(value: string): Span[] | null {
  if (!LIST.test(value)) return null;
  const parts = [...value.matchAll(PART)].map(({ 0: part, index }) => ({ part, start: index }));
  const areCredentials = parts.every(({ part }) => part.length >= MIN_PART_CHARS && entropyOf(part) > MIN_ENTROPY);
  return areCredentials ? parts.map(({ part, start }) => ({ start, end: start + part.length })) : null;
}
