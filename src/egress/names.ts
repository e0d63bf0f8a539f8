import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

export type NameCheck = { readonly name: string; readonly why: null } | { readonly name: null; readonly why: string };

const NAME_MAX_CHARS = 253;
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

/**
 * The normal form of a host name: lower case, punycode, no final dot. Apart from the case of ASCII letters, which DNS
 * ignores, the text must already have this form, so that no two programs can read different hosts in it. `why` is a clause
 * about the text. An address in any spelling is refused, also `0x7f.1` or `2130706433`.
 */
export function normalName(text: string): NameCheck {
  const lower = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  if (isAddressLike(lower)) return refused('it is an address, and only names can be allowed');
  if (lower.length > NAME_MAX_CHARS) return refused(`it is longer than ${NAME_MAX_CHARS} characters`);
  if (!lower.split('.').every((label) => LABEL.test(label))) return refused('it is not a host name in its normal form');
  // The URL parser reads addresses in all spellings and checks punycode; it changes what is not in normal form.
  const parsed = domainToASCII(lower);
  if (isIP(parsed) !== 0) return refused('it is an address, and only names can be allowed');
  if (parsed !== lower) return refused('it is not a host name in its normal form');
  return { name: lower, why: null };
}

/** What may be shown and recorded of a host that was asked for: printable ASCII, bounded. */
export function shownHost(text: string): string {
  return text.slice(0, NAME_MAX_CHARS).replace(/[^\x21-\x7e]/g, '?');
}

function isAddressLike(text: string): boolean {
  return text.includes(':') || text.startsWith('[') || isIP(text) !== 0;
}

function refused(why: string): NameCheck {
  return { name: null, why };
}
