import type { Span } from '../../text/offset-map.ts';
import { isMadeOfWords, SECRET_WORDS, wordsOf } from '../words.ts';

/** A value and the line around it. */
interface Candidate {
  value: string;
  before: string;
  after: string;
}

/**
 * Whether the line around a value says that it is something else than a secret, although the name of a secret stands
 * near: another attribute of a tag, a variable that is declared, a checksum, the attribute of a cookie, an emphasized word.
 */
export function isSomethingElse({ value, before, after }: Candidate): boolean {
  if (OTHER_ATTRIBUTE.test(before) || COOKIE_ATTRIBUTE.test(value)) return true;
  if (OTHER_ALTERNATIVE.test(before) && isMadeOfWords(value)) return true;
  if (before === '' && LINE_PREFIX.test(value)) return true;
  if (KEYWORD.test(value) && /[,(][ \t]*$/.test(before) && /^["'`]/.test(after)) return true;
  if (BEFORE_SCHEME.test(before) && SCHEME.test(value) && /^[ \t]+[A-Za-z]+=/.test(after)) return true;
  if (HEX_OF_A_HASH.test(value) && (BEFORE_FILE_HASH.test(before) || BEFORE_NAMED_HASH.test(before))) return true;
  if (TYPE_BEFORE.test(before) && ASSIGNED.test(after) && IDENTIFIER.test(value)) return true;
  return WORD.test(value) && EMPHASIS_BEFORE.test(before) && /^[*_]/.test(after);
}

/** An attribute that says what a field is, after another one: `<input type="password" class="`. */
const OTHER_ATTRIBUTE =
  /["'][ \t]+(?:class(?:Name)?|id|name|placeholder|type|for|htmlFor|autocomplete|label|title|style|href|role|asp-for|v-model|formControlName|aria-[a-z]+|data-test(?:-?id)?)[ \t]*=[ \t]*\\*["']$/i;
/** The second of two words that a condition chooses between: `ok ? 'pass' : '`. */
const OTHER_ALTERNATIVE = /\?[ \t]*(["'`])[\w -]{1,40}\1[ \t]*:[ \t]*["'`]$/;
/** What grep writes before a line: a path and the number of the line, cut where the line begins. */
const LINE_PREFIX = /^(?=[^\s]*[/.])[\w.@+/-]{1,200}[:-](?:[0-9]{1,6}[:-])?$/;
/** The name of the next argument, whose value is a string: `add_argument("--password", help="`. */
const KEYWORD = /^[A-Za-z_]\w{0,30}=$/;
/** A scheme of authorization, whose parameters follow: `AWS4-HMAC-SHA256 Credential=`. */
const BEFORE_SCHEME = /authorization["']?[ \t]*(?:=>|[:=,])[ \t]*["']?$/i;
const SCHEME = /^[A-Z][A-Za-z]{2,12}[0-9]?(?:-[A-Z]{2,6}[0-9]{0,3})*$/;
const COOKIE_ATTRIBUTE = /^(?:SameSite=(?:Lax|Strict|None)|Path=\/[\w./-]*|Max-Age=[0-9]+|HttpOnly)(?:$|;)/i;
const HEX_OF_A_HASH = /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128})$/i;
/** The name of a file to which no secret belongs: an image, a font, a program, an archive. */
const BEFORE_FILE_HASH =
  /\w\.(?:gif|png|jpe?g|svg|ico|webp|avif|woff2?|ttf|eot|otf|css|[cm]?jsx?|tsx?|map|html?|wasm|zip|t?gz|xz|bz2|whl|jar|deb|rpm|pdf)["']?[ \t]*[:=][ \t]*["']?$/i;
/** `checksum/secret: `, as templates of Kubernetes have it. */
const BEFORE_NAMED_HASH = /(?:checksum|digest)[/._-][\w./-]{1,60}["']?[ \t]*[:=][ \t]*["']?$/i;
/** The end of a type with parameters, and a sign that assigns after the next name: `Algorithm<Password> HS256 = `. */
const TYPE_BEFORE = /[\w\]?>]>[ \t]+$/;
const ASSIGNED = /^[ \t]+=[ \t]/;
const IDENTIFIER = /^[A-Za-z_]\w*$/;
const WORD = /^[a-z]{3,20}$/;
const EMPHASIS_BEFORE = /[^\w*]\*{1,2}$|[^\w_]_{1,2}$/;

/** Whether a value is a name, or stands for a name, as documentation and settings have it. */
export function isStandIn({ value, before }: Candidate): boolean {
  const bare = value.replace(/[).,;!?]+$/, '').replace(/^[!]+/, '');
  if (ONE_CHARACTER.test(bare) || METASYNTACTIC.test(bare) || CHANGE_ME.test(bare) || HEAD_OF_JWT.test(value))
    return true;
  if (endsWithWhat(value) || isDescription(bare)) return true;
  if (isOfRows(bare) && RANDOM_NAME.test(before)) return true;
  if (CONSTANT.test(bare))
    return wordsOf(bare).some((word) => SECRET_WORDS.has(word)) || isMadeOfWords(bare.toLowerCase());
  if (NAMED_SECRET.test(bare)) return bare.split(/[_-]/).every(isPartOfName);
  return WORD_WITH_SIGN.test(value) && isMadeOfWords(value) && TOKEN_NAME.test(before);
}

/** One sign or letter and no other: `++++++`, `YYYY`. Digits may be a PIN. */
const ONE_CHARACTER = /^([^0-9\s])(?:\1{2,}|\1*(?:[-_. ]\1+)+)$/;
/** One word of small letters that ends with what it stands for: `supersecurepassword`. */
const ENDS_WITH_WHAT = /^(?:([A-Za-z]?[a-z]{0,20})(?:password|passwd|passphrase|secret)|(?:my|your|some)pass)$/;
/** Fewer letters are no secret. */
const MAX_HEAD_CHARS = 3;

/** Whether a value is the word for what belongs there, behind other words. Random letters before it are a password. */
function endsWithWhat(value: string): boolean {
  const [whole, head = ''] = ENDS_WITH_WHAT.exec(value) ?? [];
  return whole !== undefined && (head.length <= MAX_HEAD_CHARS || isMadeOfWords(head));
}

/** A text that says what to put there: `A_HEX_STRING_OF_64_CHARACTERS_HERE`, `long-and-random-string`. */
const PUT_HERE = /^[A-Za-z0-9]+(?:[_ -][A-Za-z0-9]+)+[_ -]here$/i;
const DESCRIBES: ReadonlySet<string> = new Set(
  'random generated long unique alphanumeric alpha numeric string text value characters chars letters digits numbers bytes hex'.split(
    ' ',
  ),
);

function isDescription(value: string): boolean {
  if (!/[_ -]/.test(value)) return false;
  const words = wordsOf(value);
  if (
    PUT_HERE.test(value) &&
    words.every((word) => word.length < 4 || /^[0-9]{1,4}$/.test(word) || isMadeOfWords(word)) &&
    words.some((word) => DESCRIBES.has(word))
  )
    return true;
  return words.filter((word) => DESCRIBES.has(word)).length >= 3 && isMadeOfWords(value);
}

/** Beginnings of rows, joined: `abc123`, `123456abcdefg`. As a password a person may have chosen it. */
const ROW = '(?:123(?:4(?:5(?:6(?:7(?:89?)?)?)?)?)?0?|abc(?:d(?:e(?:f(?:g(?:h(?:ij?)?)?)?)?)?)?|qwe(?:r(?:ty?)?)?|xyz)';
const ROWS = new RegExp(`^(?:${ROW}[-_]?){2,4}$`, 'i');
const TWO_ROWS = new RegExp(`^${ROW}[-_]?${ROW}$`, 'i');
/** The digits in order, no more than an id has: with 16 of them someone set a key of 128 bits. */
const DIGITS_IN_ORDER = /^(?:1234567890(?:12?)?|0123456789(?:01?)?)$/;
/** A longer value of three rows and more is one that someone set. */
const MAX_ROWS_CHARS = 11;

function isOfRows(value: string): boolean {
  return DIGITS_IN_ORDER.test(value) || TWO_ROWS.test(value) || (value.length <= MAX_ROWS_CHARS && ROWS.test(value));
}

/** The name of what is generated: a token or a key. */
const RANDOM_NAME = /(?:token|key)s?["'`\])]*[ \t]*(?:=>|:=|[:=,(])[ \t]*["'`]?$/i;
const METASYNTACTIC = /^(?:foo|bar|baz|qux|quux|toto|lorem|ipsum)+$/i;
const CHANGE_ME = /^change[_-]?(?:this|me|it)$/i;
/** A JSON Web Token without its signature, cut off by its author. */
const HEAD_OF_JWT = /^eyJ[\w-]{8,}(?:\.(?:eyJ[\w-]*)?)?(?:\.{3}|…)$/;
/** The name of a variable or of a field in capitals: `REPMGR_PASSWORD`. */
const CONSTANT = /^[A-Z]{2,15}[0-9]?(?:_[A-Z]{2,15}[0-9]?)+$/;
/** A name that ends with what it names: `rfc2136_tsig_secret`. */
const NAMED_SECRET =
  /^[a-z]{2,15}[0-9]{0,4}(?:[_-][a-z]{2,15}[0-9]{0,4})*[_-](?:password|passwd|passphrase|secret|token|key|credentials?)$/;
/** Shorter parts of a name are abbreviations. */
const ABBREVIATION_CHARS = 5;

function isPartOfName(part: string): boolean {
  return part.replace(/[0-9]+$/, '').length <= ABBREVIATION_CHARS || isMadeOfWords(part);
}

/** No token is a word with a small number or a sign that ends a statement: `variable-2`, `indirect;`. */
const WORD_WITH_SIGN = /^[a-z]{3,20}(?:[-_][0-9]{1,2}|[;:,])$/;
const TOKEN_NAME = /(?:token|key)s?["']?[ \t]*[:=(,][ \t]*["']$/i;

/**
 * Whether a value with the prefix of a provider is a name of a program, or the beginning of one:
 * `hf_requiredCharacteristics`. A token of 16 and more random letters is never made of words.
 */
export function isIdentifier(text: string, { start, end }: Span): boolean {
  const [name] = WORD_CHARACTERS.exec(text.slice(start, Math.min(end, start + MAX_NAME_CHARS) + MAX_NAME_CHARS)) ?? [
    '',
  ];
  return start + name.length >= end && PREFIXED_NAME.test(name) && isMadeOfWords(name.slice(name.indexOf('_') + 1));
}

/** No name is longer. */
const MAX_NAME_CHARS = 64;
const WORD_CHARACTERS = /^\w*/;
const PREFIXED_NAME = /^[A-Za-z]{2,6}(?:_[a-z]+(?:[A-Z][a-z]+)*)+$/;
