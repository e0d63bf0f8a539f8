/**
 * Pairs of letters that hardly occur inside a word of a natural language or an identifier: a first letter and what does
 * not follow it. Counted over 6,700 words of sources and documents: 96 % of them have no such pair; 7 % of eight random
 * letters have none.
 */
const UNUSUAL_PAIRS =
  'ahoq bghknqvwxz cgjqwxz dhkqxz fgjkmqvwxz gbdjkqvwxyz hbfghjkqvwxz ihijuwy jbcdfghjklmnpqrtvwxyz kbchjkmqrvxyz lhjqwxz mfghjnqrvwxz nqwxz ohqz pbjmnqvwxz qabcdefghijkmnopqrstvwxyz rjqxz sbjxz tjkqxz uhjkquvwyz vbdfghjklmnpqrstuvwxyz wbcfgjkmpqtuvwxyz xghjklmnoqrsuvwyz ybdfghjkqruvxy zbcdfghjklmnpqrstuvwxy';

const UNUSUAL: ReadonlySet<string> = new Set(
  UNUSUAL_PAIRS.split(' ').flatMap(([first = '', ...next]) => next.map((letter) => first + letter)),
);

/** Words in the names of secrets, in lower case. */
export const SECRET_WORDS: ReadonlySet<string> = new Set(
  'pass password passwd passphrase passcode pwd secret secrets token tokens credential credentials apikey key'.split(
    ' ',
  ),
);

const PIECES = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+/g;
const HAS_VOWEL = /[aeiouy]/;
/** Words of programs that have no vowel or an unusual pair. */
const TECHNICAL: ReadonlySet<string> = new Set(
  'pwd pswd psw sql http https html xml css ssl tls mtls ssh jwt jwk jks dns cdn npm php gpg pgp tcp udp ftp sftp smtp ldap rfc rpc grpc ctx cfg src dst tmp str ptr pkg cmd msg btn txt fmt mgr svc srv vpn vpc rds kms csrf xsrf sdk nfs ttl std cls wsl usr mnt pid pids cgroup cgroups systemd vacuum hydrate proxy proxies contextd ctxd qdrant onnx'.split(
    ' ',
  ),
);
const SEPARATED = /[A-Za-z0-9][^A-Za-z0-9]+[A-Za-z0-9]/;
/** `sessionID`, `baseURL`. */
const ENDS_WITH_ABBREVIATION = /^[a-z]{3,}(?:[A-Z][a-z]{2,})*[A-Z]{2,3}$/;
/** Shorter pieces say nothing: `a`, `id`, `db`. */
const MIN_WORD_CHARS = 3;
const MAX_WORD_CHARS = 24;
/** Capitals of an abbreviation. */
const MAX_ABBREVIATION_CHARS = 5;
/** Letters for which one unusual pair is allowed. */
export const LETTERS_PER_UNUSUAL = 16;
const MAX_DIGITS = 5;
const MAX_DIGIT_SHARE = 0.4;

/** The words of a name, in lower case: `newUser_id2` has new, user, id and 2. */
export function wordsOf(text: string): string[] {
  return (text.match(PIECES) ?? []).map((piece) => piece.toLowerCase());
}

/**
 * Whether a text consists of words with signs between them, as names, identifiers and sentences do. Up to five digits may
 * be among them. Random letters and digits do not look like words, with few exceptions.
 */
export function isMadeOfWords(text: string): boolean {
  const pieces = text.match(PIECES) ?? [];
  let [words, short, numbers, digits, letters, unusual] = [0, 0, 0, 0, 0, 0];
  for (const piece of pieces) {
    if (/[0-9]/.test(piece)) {
      numbers += 1;
      digits += piece.length;
      continue;
    }
    letters += piece.length;
    if (piece.length < MIN_WORD_CHARS || isAbbreviation(piece)) short += 1;
    else if (TECHNICAL.has(piece.toLowerCase())) words += 1;
    else if (piece.length > MAX_WORD_CHARS || !HAS_VOWEL.test(piece.toLowerCase())) return false;
    else {
      words += 1;
      unusual += unusualPairs(piece.toLowerCase());
    }
  }
  const isSeparated = SEPARATED.test(text);
  if (words === 0 || short > (isSeparated || ENDS_WITH_ABBREVIATION.test(text) ? words : words / 2)) return false;
  if (digits > MAX_DIGITS || digits > MAX_DIGIT_SHARE * letters || numbers > (isSeparated ? words : 1)) return false;
  return unusual <= Math.floor(letters / LETTERS_PER_UNUSUAL);
}

function isAbbreviation(piece: string): boolean {
  return piece.length <= MAX_ABBREVIATION_CHARS && /^[A-Z]+$/.test(piece);
}

/** How many pairs of letters of a word in lower case hardly occur in words. */
export function unusualPairs(word: string): number {
  let count = 0;
  for (let at = 1; at < word.length; at++) if (UNUSUAL.has(word.slice(at - 1, at + 1))) count += 1;
  return count;
}
