import { isMadeOfWords } from '../words.ts';

/** A value and the line around it. */
interface Candidate {
  value: string;
  before: string;
  after: string;
}

/** Longer values are not looked at. */
const MAX_CHARS = 256;
/** The end of a name, and what assigns a value to it. */
const ASSIGNS = String.raw`\\*["'\`]?\]?[ \t]*(?:=>|:=|=|:|[ \t])[ \t]*\\*["'\`]?$`;

/**
 * Whether a value says where something is or what it is known by: a file under the name of a path, a host under the name of a key,
 * the fingerprint of a key of OpenPGP, the key of an entry of a cache.
 */
export function isPlaceOrPrint({ value, before, after }: Candidate): boolean {
  if (value.length > MAX_CHARS) return false;
  if (PATH_NAME.test(before) && FILE.test(value)) return true;
  if (HOST.test(value) && KEY_NAME.test(before)) return isHost(value);
  if (OPENPGP_ID.test(value) && OPENPGP_NAME.test(before)) return true;
  return HASH.test(value) && BARE_KEY.test(before) && CACHE.test(before + after);
}

const PATH_NAME = new RegExp(`[_.-]?(?:path|file(?:_?name)?|dir(?:ectory)?|location)${ASSIGNS}`, 'i');
/** A path from a root, or the name of a file with an ending. */
const FILE = /^(?:(?:~|\.{1,2}|[A-Za-z]:)?[\\/][\w.@+ \\/-]+|[\w@+-]+(?:[\w.@+ \\/-]*)\.[A-Za-z]{2,8})$/;

/** The name of a key or a token. A password may look like a host. */
const KEY_NAME = new RegExp(`(?:key|token|secret)s?(?:_?[0-9]{1,2})?${ASSIGNS}`, 'i');
const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+[A-Za-z0-9-]+(?::[0-9]{1,5})?$/;
const ADDRESS = /^(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?::[0-9]{1,5})?$/;
/** A word with a number, or an abbreviation with one. */
const NUMBERED = /^[a-z]{1,4}[0-9]{1,3}$/i;

/** Whether a value is an address, or names with dots between: words, short parts and numbers, the last one of letters. */
function isHost(value: string): boolean {
  if (ADDRESS.test(value)) return true;
  const [host = ''] = value.split(':');
  const labels = host.split('.');
  return (
    /^[a-z]{2,12}$/i.test(labels.at(-1) ?? '') &&
    isMadeOfWords(labels.at(-2) ?? '') &&
    labels.every((label) =>
      label.split('-').every((part) => part.length < 4 || NUMBERED.test(part) || isMadeOfWords(part)),
    )
  );
}

/** The id or the fingerprint of a key of OpenPGP, in capitals as gpg prints it. */
const OPENPGP_ID = /^(?:0x)?(?:[0-9A-F]{8}|[0-9A-F]{16}|[0-9A-F]{40})$/;
/** `user.signingkey` of git, and sentences of gpg. The name of a variable has `_` between its words. */
const OPENPGP_NAME =
  /(?:^|[\s.])(?:signingkey|(?:signing|gpg|pgp|rsa|dsa|eddsa|sub|primary|master)?[ ]?key)[ \t]*(?:[=:]|[ \t])[ \t]*"?$/i;

const HASH = /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})$/;
const BARE_KEY = /(?:^|[^\w.-])key["']?[ \t]*[=:][ \t]*["']?$/i;
const CACHE = /cach(?:e|ing)/i;
