import type { Finding } from '../finding.ts';
import { isMadeOfWords, SECRET_WORDS, wordsOf } from '../words.ts';
import { isCode, isCodeInQuotes, isExpression } from './code.ts';
import { isTranslation } from './languages.ts';
import { isListedHash } from './listed-hashes.ts';
import { isSomethingElse, isStandIn } from './look-alikes.ts';
import { isOtherName } from './other-names.ts';
import { isPublicPem } from './public-pem.ts';
import { isPublishedExample } from './published.ts';
import { isEncrypted, isTemplate, withoutTemplate } from './templates.ts';

/** The rule for a user and a password on two lines. */
export const LOGIN_RULE = 'login-pair';
/** Characters of the line examined before and after a value. */
const AROUND_CHARS = 200;
/** Longer values are judged by their rule alone: names and words are shorter. */
const MAX_JUDGED_CHARS = 256;

/** A value found by a rule, with the line around it. */
interface Candidate {
  value: string;
  /** From the start of its line, at most 200 characters. */
  before: string;
  /** To the end of its line, at most 200 characters. */
  after: string;
}

/**
 * Judges a value found by a rule from its surroundings. Returns the value without quotes and names that the rule
 * included. Null if syntax or value show that it is not a credential: an expression, a template, a path, a version, a
 * checksum, a placeholder, a name.
 */
export function judge(text: string, finding: Finding): Finding | null {
  const trimmed = trim(text, finding);
  const { start, end } = trimmed;
  if (isPublicPem(text, trimmed) || isListedHash(text, trimmed)) return null;
  if (isOfManifest(finding) && TYPE_OF_MANIFEST.test(text.slice(finding.start, start))) return null;
  if (end - start > MAX_JUDGED_CHARS) return isEncrypted(text.slice(start, end)) ? null : trimmed;
  const candidate = candidateAt(text, start, end);
  if (CHANGED_WORDS.test(candidate.value)) return null;
  if (isOfManifest(finding) && TYPE_BEFORE.test(candidate.before)) return null;
  const isQuoted = standsInQuotes(candidate);
  if (isPublished(candidate) || isTemplate(candidate.value, isQuoted) || isReference(candidate.value)) return null;
  if (isWorkingDirectory(candidate) || isOtherName(candidate)) return null;
  if (
    isPlaceholder(candidate) ||
    isPlaceholderInBase64(candidate.value) ||
    NAME_SERVICE.test(candidate.before + candidate.value)
  )
    return null;
  if (isSomethingElse(candidate) || isStandIn(candidate) || isTranslation(text, trimmed)) return null;
  // After `stringData:` or a user's name comes data, whatever the lines around it look like.
  const isData = isOfManifest(finding) || finding.rule === LOGIN_RULE;
  const isInCode = (): boolean => !isData && isCode(text, start);
  if (isQuoted && isCodeInQuotes(candidate)) return null;
  if (!isQuoted && followsString(candidate)) return null;
  if (isLabel(candidate)) return null;
  if (isUnquotedRightSide(candidate) && !endsString(candidate) && isExpression(candidate, isInCode)) return null;
  return trimmed;
}

/**
 * Whether the value itself shows that it is not secret, even if it has a provider's prefix: it is a published example,
 * or mostly one repeated character.
 */
export function isExample(value: string): boolean {
  if (value.length > MAX_EXAMPLE_CHARS) return false;
  if (isPublishedExample(value)) return true;
  if (isRepeated(value) || DIGITS_IN_ORDER.test(value) || isInOrder(value)) return true;
  return value.length > MAX_JUDGED_CHARS ? value.includes('EXAMPLE') : EXAMPLE.test(value);
}

const MAX_EXAMPLE_CHARS = 4096;
const DIGITS_IN_ORDER = /(?:0123456789|1234567890){2}/;

/** Characters in the order of the alphabet, more than chance gives: `abcdefghijkl`. */
const MIN_IN_ORDER = 12;

function isInOrder(value: string): boolean {
  let inOrder = 1;
  for (let at = 1; at < Math.min(value.length, MAX_JUDGED_CHARS) && inOrder < MIN_IN_ORDER; at++)
    inOrder = value.charCodeAt(at) === value.charCodeAt(at - 1) + 1 ? inOrder + 1 : 1;
  return inOrder >= MIN_IN_ORDER;
}

/** One character at least four times in a row. */
const RUN = /([^\s])\1{3,}/g;
/** Most characters need eight repetitions; a few need only four, because they usually stand for an omission. */
const LONG_RUN = /([^\s])\1{7}|([xX#])\2{3}/;
const EXAMPLE =
  /EXAMPLE|(?:^|[^A-Za-z])(?:example|your)[_-](?!$)(?=[A-Za-z_-]*$)|(?:^|[^A-Za-z])(?:your[_-][a-z]|YOUR[_-][A-Z])/;

/** Whether a value is mostly one repeated character, like `AKIAXXXXXXXXXXXXXXXX`, or partly replaced by asterisks. */
function isRepeated(value: string): boolean {
  return /[*•]{4}/.test(value) || (LONG_RUN.test(value) && value.replace(RUN, '').length <= value.length / 2);
}

function candidateAt(text: string, start: number, end: number): Candidate {
  const from = Math.max(0, start - AROUND_CHARS);
  const before = text.slice(from, start);
  const after = text.slice(end, end + AROUND_CHARS);
  const lineEnd = after.search(/[\r\n]/);
  return {
    value: text.slice(start, end),
    before: before.slice(Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r')) + 1),
    after: lineEnd === -1 ? after : after.slice(0, lineEnd),
  };
}

/** Words as a diff of words shows them. Both sides are read as well, each without the marks, if they are as short (decorations.ts). */
const CHANGED_WORDS = /^["']?(?:\[-(?:(?!-\])[^\n]){1,120}-\]|\{\+(?:(?!\+\})[^\n]){1,120}\+\}){1,2}["',;]*$/;

/** The name that a rule included in its value, like `password: ` in a manifest. */
const NAME = /^[\w.-]+:[ \t]+(?:[|>][-+]?\s+)?(?=["']?[A-Za-z0-9+/]{8})/;
const QUOTED = /^(["'`]).*\1$/s;
/** Terminal color codes, which the rules include in the value before them. */
const COLOURS = /^(?:[^\w\s]\[[0-9;]*[A-Za-z]?)+$/;
/** The end of a line inside a string literal: `\n")`. */
const STRING_END = /(?:\\[nrt])+["'`]?[),;]*$|["'`][),;]+$/;

function trim(text: string, { rule, start, end }: Finding): Finding {
  let value = text.slice(start, Math.min(end, start + 4 * MAX_JUDGED_CHARS));
  let from = start;
  let to = end;
  const name = isOfManifest({ rule }) ? NAME.exec(value) : null;
  if (name !== null) {
    from += name[0].length;
    value = value.slice(name[0].length);
  }
  if (value.length > 2 && to - from === value.length && QUOTED.test(value)) {
    from += 1;
    to -= 1;
  } else if (to - from === value.length) {
    const colours = value.indexOf('\x1b');
    if (colours > 0 && COLOURS.test(value.slice(colours))) return { rule, start: from, end: from + colours };
    const tail = STRING_END.exec(value);
    if (tail !== null && tail.index >= 3 && isInString(text, from)) to = from + tail.index;
    else to = from + withoutTemplate(value).length;
  }
  return { rule, start: from, end: to };
}

/** A manifest's field about the secret itself: `type: kubernetes.io/tls`. */
const TYPE_OF_MANIFEST = /^type:/;
const TYPE_BEFORE = /^[ \t+-]*["']?type["']?:[ \t]*["']?$/;

/** Whether a rule reads the manifest of a Kubernetes Secret. */
export function isOfManifest({ rule }: Pick<Finding, 'rule'>): boolean {
  return rule.includes('kubernetes');
}

/** Whether a string literal is open at an offset, judging from the start of its line. */
function isInString(text: string, at: number): boolean {
  const near = text.slice(Math.max(0, at - AROUND_CHARS), at);
  const line = near.slice(near.lastIndexOf('\n') + 1);
  return ['"', "'", '`'].some((quote) => line.split(quote).length % 2 === 0);
}

const VERSION =
  /^[~^<>=v]{0,3}[0-9]{1,5}(?:\.[0-9]{1,5})+(?:[-+.~][A-Za-z0-9.+~-]{0,24})?$|^\S+=[0-9]+(?:\.[0-9]+)+[-+.~0-9]*$/;
/** A checksum prefixed with its algorithm, in hex or base64 of matching length. */
const CHECKSUMS: readonly [names: string, hex: number, base64: number][] = [
  ['md5', 32, 24],
  ['sha-?1', 40, 28],
  ['sha-?224', 56, 40],
  ['sha-?256|h1|blake3', 64, 44],
  ['sha-?384', 96, 64],
  ['sha-?512|blake2b?', 128, 88],
];
const CHECKSUM = new RegExp(
  CHECKSUMS.map(
    ([names, hex, base64]) =>
      `(?:^|[\\s"'=(,])(?:${names})[-:=](?:[0-9a-fA-F]{${hex}}|(?=[^=]*=*$)[A-Za-z0-9+/=]{${base64}})$`,
  ).join('|'),
);
const MAX_ALGORITHM_CHARS = 10;
/** Names of public values, and the format of such a value. */
const PUBLIC_VALUES: readonly [name: RegExp, value: RegExp][] = [
  [namedAs('public[_-]?key(?:[_-]?token)?|sec-websocket-(?:key|accept)'), /^/],
  [
    namedAs('gpg[_-]?keys?|fingerprint|integrity|checksum|(?:sha(?:1|224|256|384|512)|md5)(?:sum)?'),
    /^(?:0x|sha\d+-)?(?:[0-9a-f]{8}|[0-9a-f]{16}|[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128}|(?:[0-9a-f]{2}:){7,}[0-9a-f]{2}|[A-Za-z0-9+/]{22,88}={0,2})$/i,
  ],
  [namedAs('site[_-]?key'), /^(?:6L[\w-]{38}|[0-3]x[0-9A-F]\w{19,24}|[0-9a-f-]{36})$/i],
  [namedAs('key_?server'), /^[\w.-]+(?::\d+)?$|:\/\//],
];

function namedAs(names: string): RegExp {
  return new RegExp(`(?:${names})["']?[ \\t]*(?:=>|:=|[:=,(])[ \\t]*["'\`]?$`, 'i');
}

/** A parameter name of an Authorization header, before the actual value. */
const PARAMETER = /^(?:realm=\S*|[a-z_]{3,20}=)$/;
const AUTHORIZATION = /authori[sz]ation|authenticate/i;
const ARN = /^arn:[a-z-]+:/;
/** Character sequences that people type for dummy values. */
const SEQUENCES = ['1234567890', '0123456789', 'abcdefghijklmnopqrstuvwxyz', 'qwertyuiop', 'asdfghjkl', 'zxcvbnm'];
const MIN_SEQUENCE_CHARS = 4;

/** A user whose password follows. */
const USER_BEFORE = /([\w.@-]{1,40}):$/;
const MAX_SEQUENCE_CHARS = Math.max(...SEQUENCES.map(({ length }) => length));

function isPublished({ value, before }: Candidate): boolean {
  if (isExample(value) || ARN.test(value) || isVersion(value, before)) return true;
  const [, user] = (before.endsWith(':') ? USER_BEFORE.exec(before) : null) ?? [];
  if (user !== undefined && isPublishedExample(`${user}:${value}`)) return true;
  if (PARAMETER.test(value) && AUTHORIZATION.test(before)) return true;
  if (CHECKSUM.test(before.slice(-MAX_ALGORITHM_CHARS) + value)) return true;
  if (PUBLIC_VALUES.some(([name, look]) => look.test(value) && name.test(before))) return true;
  if (value.length < MIN_SEQUENCE_CHARS || value.length > MAX_SEQUENCE_CHARS) return false;
  const lower = value.toLowerCase();
  const backwards = [...lower].reverse().join('');
  return SEQUENCES.some((order) => order.startsWith(lower) || order.startsWith(backwards));
}

/** A longer number is not a version if the name announces a password. */
const MAX_VERSION_DIGITS = 6;
const DATE = /^[0-3]?[0-9]\.[01]?[0-9]\.(?:19|20)[0-9]{2}$/;
/** Words on a line with a password. */
const OF_PASSWORD = /pass|pwd|login|auth|cred|identified/i;

function isVersion(value: string, before: string): boolean {
  if (!VERSION.test(value) || (DATE.test(value) && OF_PASSWORD.test(before))) return false;
  return !PASSWORD_NAME.test(before) || value.replace(/[^0-9]/g, '').length <= MAX_VERSION_DIGITS;
}

const PATH = /^(?:~|\.{1,2}|[A-Za-z]:)?[\\/](?:[\w.@+ -]{0,64}[\\/])*[\w.@+ -]{0,64}$/;
const URL_WITHOUT_USER = /^[a-z][a-z0-9+.-]{1,20}:\/\/[^\s@?#]*$/i;

/** A path or an address that consists of words. */
function isReference(value: string): boolean {
  if (!PATH.test(value) && !URL_WITHOUT_USER.test(value)) return false;
  const parts = value.split(/[\\/]/).filter((part) => part.length > 3);
  return parts.length > 0 && parts.every((part) => isMadeOfWords(part) || /^[\d.:-]+$/.test(part) || part.length < 6);
}

/** A line of nsswitch.conf. */
const NAME_SERVICE = /^[ \t]*passwd:[ \t]+(?:compat|files|systemd|sss|ldap|nis|db|winbind|mymachines)$/;

/** Prefixes of a placeholder written as one word: mysecretpassword, yourtoken. */
const JOINED_PLACEHOLDER =
  /^(?:my|your|the|an?|some|super|very|top|new|old|test|user|db|root|admin|default|sample|temp|dummy|fake|real|strong|secret|not)+(?:secret|password|passwd|passphrase|token|key)+[0-9]{0,4}!*$/i;
/** Requests to fill in a value, and schema keywords of a field. */
const KNOWN_PLACEHOLDER =
  /^(?:required|optional|nullable|string|change[_-]?(?:this|me|it)|replace[_-]?(?:this|me|it)|to[_-]?be[_-]?(?:set|changed|replaced))!*$/i;
const CONSTANT_NAME = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;
const SIGN = String.raw`["'\`\])]*[ \t]*(?:=>|:=|\|\||[:=,(])[ \t]*\(?[ \t]*[bruf@$]?["'\`]?$`;
const KEY_NAME = new RegExp(`(?:key|token|secret|auth|credentials?)s?${SIGN}`, 'i');
/** Names of secrets that a person may choose; keys and tokens are generated. */
const SECRET_NAME = new RegExp(`(?:secret|(?:^|[^a-z])auth|secret[_-]?key(?:[_-]?base)?)${SIGN}`, 'i');
const PASSWORD_NAME = new RegExp(`(?:pass(?:wor[dt]|wd|phrase|code)?|pwd|psw|pw)s?${SIGN}`, 'i');
/** Suffixes that people add to a word to make a password: Secret2024, Password! */
const CHOSEN = /[0-9]{2,}[!?.*#@$%&]*$|[!]$/;
const ALGORITHM = /(?:sha|aes|base|[rhep]s|utf|pbkdf|md|ed|rsa|ed|x)[-_]?[0-9]+$/i;
/** First words of placeholders, never of passwords. */
const TELLS_TO_REPLACE: ReadonlySet<string> = new Set(
  'your example sample dummy fake placeholder change replace insert enter'.split(' '),
);
const PASSPHRASE = /^[a-z]{2,14}(?:([-_. ])[a-z]{2,14})(?:\1[a-z]{2,14}){1,8}$/i;

/** The working directory, in the variables that a shell keeps it in: POSIX.1-2024, XBD 8.3 and `cd`. */
const DIRECTORY_NAME = /(?:^|[^\w.-])(?:OLD)?PWD["']?[ \t]*[:=][ \t]*["']?$/;

function isWorkingDirectory({ value, before }: Candidate): boolean {
  return /^(?:\/(?!\/)|[0-9]+$)/.test(value) && DIRECTORY_NAME.test(before);
}

/** A value that names what belongs there, like `UberSecretPassword`, `db-password` and `KEYDB_PASSWORD`. */
function isPlaceholder({ value, before }: Candidate): boolean {
  if (KNOWN_PLACEHOLDER.test(value)) return true;
  const isKey = KEY_NAME.test(before);
  const isChosen = (!isKey || SECRET_NAME.test(before)) && CHOSEN.test(value) && !ALGORITHM.test(value);
  if (isChosen) return TELLS_TO_REPLACE.has(wordsOf(value)[0] ?? '');
  if (JOINED_PLACEHOLDER.test(value)) return true;
  const bare = value.replace(/[!?.]+$/, '');
  if (!isMadeOfWords(bare) || !/^[\w.:/@ +-]+$/.test(bare)) return false;
  const words = wordsOf(bare).filter((word) => !/^[0-9]/.test(word));
  const isNamed = words.some((word) => SECRET_WORDS.has(word) || word === 'auth' || word === 'hash');
  if ((isNamed && words.length === 1) || (words[0] === 'your' && words.length > 1)) return true;
  if (CONSTANT_NAME.test(bare)) return isNamed || words.length > 1;
  if (isNamed && words.length > 1) return true;
  // A password may consist of words, and so may a secret that a person chose; keys and tokens do not.
  return words.length > 1 && isKey && !(SECRET_NAME.test(before) && PASSPHRASE.test(value));
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4}){1,32}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Texts that stand for a value, as manifests have them in base64. */
const STANDS_FOR_VALUE =
  /^(?:(?:my|your|the|a|some|test|insert|enter|put|add|replace|change)[ _-].*|.*[ _-](?:here|me|goes here)|(?:example|sample|dummy|fake|placeholder|todo|fixme|changeme|foo|bar|test|value|secret|token|key)(?:[ _-][a-z]+)*|user(?:name)?:pass(?:word)?)$/i;

/** Whether a value is the base64 of a placeholder: `Y2hhbmdlbWU=`. */
function isPlaceholderInBase64(value: string): boolean {
  if (!BASE64.test(value)) return false;
  const text = Buffer.from(value, 'base64').toString('latin1').trimEnd();
  if (!/^[ -~]{3,}$/.test(text)) return false;
  const inner = { value: text, before: '', after: '' };
  if (isTemplate(text, false) || isPlaceholder(inner) || isStandIn(inner)) return true;
  const [user = '', password = '', ...more] = text.split(':');
  if (more.length === 0 && [user, password].every((part) => isStandIn({ ...inner, value: part }))) return true;
  return STANDS_FOR_VALUE.test(text) && isMadeOfWords(text) && !CHOSEN.test(text);
}

/** A name and an assignment operator at the end of the text before a value. */
const RIGHT_SIDE =
  /(^|.)(?:["'`]?[A-Za-z_$][\w.$-]*["'`]?\]?\)?\??)[ \t]*(?:=>|:=|[-+|?]{0,2}=|:)[ \t]*[=!]{0,2}[ \t]*$/;

/** Whether a value ends a string that began before it on its line, so is no expression: `["SMTP_PASS=value", …`. */
function endsString({ before, after }: Candidate): boolean {
  return after.startsWith('"') && before.split('"').length % 2 === 0;
}

/** Whether a value is a complete string literal: closed by the quote that opened it. */
function standsInQuotes({ before, after }: Candidate): boolean {
  const [quote] = /\\*["'`]$/.exec(before) ?? [];
  // A word or a template right after the quote shows that the quote opens another string: "$(cat "$FILE")".
  return quote !== undefined && after.startsWith(quote) && !/^[\w${(]/.test(after.slice(quote.length));
}

/** The name of a field in which a password is typed again; its label in a file of translations is a word. */
const REPEATED_NAME = /(?:confirm(?:ation)?|repeat(?:ed)?|again)["'`]?[ \t]*(?:=>|[:=])[ \t]*["'`]$/i;

function isLabel({ before, value }: Candidate): boolean {
  return REPEATED_NAME.test(before) && /^[\p{L}\p{M}]+$/u.test(value);
}

/** Whether the quote before a value closes a string, and a sign of code follows: `ask("Password: ").trim()`. */
function followsString({ before, value }: Candidate): boolean {
  const quote = /["'`]$/.exec(before)?.[0];
  if (quote === undefined || !/^[^\w\s"'`$]/.test(value)) return false;
  // Not a shell's `\\"`, nor the apostrophe of a word.
  const strings = before.replace(/\\./g, '').replace(/(?<=[A-Za-z])'(?=[a-z])/g, '');
  return strings.endsWith(quote) && strings.split(quote).length % 2 === 1;
}

const KEYWORD_ARGUMENT = /^[A-Za-z_]\w*=[A-Za-z_([{]/;

/** Whether an unquoted value is on the right side of an assignment, a field or an argument. */
function isUnquotedRightSide({ before, value }: Candidate): boolean {
  const quote = /["'`]$/.exec(before)?.[0];
  // The quote may close a string to which the value is appended: "Basic " + credentials.
  if (quote !== undefined) return before.split(quote).length % 2 === 1 && /^[+.&][ \t]*\(?[A-Za-z_$]/.test(value);
  if (KEYWORD_ARGUMENT.test(value) && /[,(][ \t]*$/.test(before)) return true;
  const [, sign] = RIGHT_SIDE.exec(before) ?? [];
  // Not a parameter of a URL, a part of a connection string, or an option of a command.
  return sign !== undefined && !/[?&;@-]/.test(sign);
}
