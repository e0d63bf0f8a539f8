import { isCredential } from '../credential.ts';
import { isMadeOfWords } from '../words.ts';
import { isOtherForm } from './other-forms.ts';
import { isPlaceOrPrint } from './places.ts';

/** A value and the line around it. */
interface Candidate {
  value: string;
  before: string;
  after: string;
}

/**
 * Whether the name of a value says that it is no credential although it ends like the name of one, or the value has a form
 * that no credential has: a position in a list, the key of a request, the id of a key, a schedule, an algorithm.
 */
export function isOtherName(candidate: Candidate): boolean {
  const { value, before, after } = candidate;
  if (POSITION_NAME.test(before) || KEY_ID_NAME.test(before)) return !ACCOUNT_KEY.test(value);
  if (ABOUT_NAME.test(before) && isNameOfObject(value)) return true;
  if ((PUBLIC_NAME.test(before) && isOfCertificate(value)) || isSameName(candidate)) return true;
  if (isOtherForm(candidate) || isPlaceOrPrint(candidate)) return true;
  if (CRON.test(value) || isAlgorithm(value) || LOOKED_UP.test(before)) return true;
  return HEX_OR_BASE64.test(value) && (HASH_NAME.test(before) || HASH_BEHIND.test(after));
}

/** The end of a name, and what assigns a value to it: in code, settings, JSON, URLs, headers and options. */
const ASSIGNS = String.raw`\\*["'\`]?\]?[ \t]*(?:=>|:=|=|:|[ \t])[ \t]*\\*["'\`]?$`;

/** What a program gives so that the next request goes on from there, or is not done twice; and keys of data. */
const POSITION_NAME = new RegExp(
  `(?:(?:next|prev(?:ious)?|page|paging|pagination|continuation|continue|cursor|sync|resume|start|end|marker|scroll|offset|delta)[_-]?){1,3}token${ASSIGNS}|` +
    `(?:idempoten(?:cy|t)|dedup(?:lication)?|partition|sort|range|routing|foreign|primary|unique|cache|group|shard|object|message|row|map|correlation)[_-]?key${ASSIGNS}`,
  'i',
);
/** A key of an account of Azure, which may be called its primary key. */
const ACCOUNT_KEY = /^(?:[A-Za-z0-9+/]{43}=|[A-Za-z0-9+/]{86}==)$/;

/** What is known of a key or token besides itself. An id of a private key, and one that opens something with a role, are secrets. */
const KEY_ID_NAME = new RegExp(
  `(?<!private[_-]?)(?:key|token)[_-]?(?:ids?|hint|type|count|version|alias|arn|fingerprint|thumbprint)${ASSIGNS}|(?-i:SecretId|SecretName|(?<![A-Za-z])kid)${ASSIGNS}|` +
    `(?:fingerprint|thumbprint)${ASSIGNS}|secret[_-]?version[_-]?id${ASSIGNS}`,
  'i',
);

/** What is said about a secret, not the secret: its name in a cluster, the policy of a password, where it is kept. */
const ABOUT_NAME = new RegExp(
  `(?:secret|password|passwd|token|credentials?|keystore|truststore)s?[_.-]?(?:name|ref(?:erence)?|policy|provider|store|rotation|namespace|selector|class|alias)${ASSIGNS}|` +
    `existing[_.-]?(?:[A-Za-z]{1,20}[_.-]?)?secret${ASSIGNS}`,
  'i',
);
/** A name of an object of a cluster: parts in small letters, joined by `-` or `.`. */
const OBJECT_NAME = /^[a-z][a-z0-9]*(?:[-.][a-z0-9]+)+$/;
/** A part that is no word: an abbreviation, a number, or an abbreviation with a number. */
const SMALL_PART = /^(?:[a-z]{1,4}[0-9]{0,3}|[0-9]{1,3})$/;
const LONG_PART = /^[a-z]{4,24}$/;

/** Whether a value is a name: of an object of a cluster, half of which are words, or of a class or a kind, without digits. */
function isNameOfObject(value: string): boolean {
  if (!OBJECT_NAME.test(value)) return isMadeOfWords(value) && !/[0-9]/.test(value) && !isCredential(value);
  const parts = value.split(/[-.]/);
  if (isNumberedName(parts)) return true;
  const long = parts.filter((part) => LONG_PART.test(part));
  return (
    2 * long.length >= parts.length &&
    parts.every((part) => LONG_PART.test(part) || SMALL_PART.test(part)) &&
    !isCredential(long.join('-'))
  );
}

/** What an object of a cluster is numbered with: `v2`, `abc123`. */
const NUMBERED_PART = /^[a-z]{0,4}[0-9]{1,3}$/;
const MAX_SHORT_PART_CHARS = 3;

/** Whether one part of a name has a number and the others are words, or short: a generator puts digits into most of its groups. */
function isNumberedName(parts: readonly string[]): boolean {
  const plain = parts.filter((part) => !/[0-9]/.test(part));
  const words = plain.filter((part) => isMadeOfWords(part));
  return (
    plain.length >= parts.length - 1 &&
    parts.every((part) => plain.includes(part) || NUMBERED_PART.test(part)) &&
    plain.every((part) => part.length <= MAX_SHORT_PART_CHARS || isMadeOfWords(part)) &&
    words.length > 0 &&
    2 * words.length >= plain.length
  );
}

/** Certificates of a cluster and of its authority. */
const PUBLIC_NAME = new RegExp(
  `(?:certificate[_-]?authority(?:[_-]?data)?|client[_-]?certificate(?:[_-]?data)?|ca[_-]?bundle)${ASSIGNS}`,
  'i',
);

/** The base64 of a certificate: of its text, or of its first bytes. */
const CERTIFICATE = /^(?:LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS|MII[A-Za-z0-9+/]{32})/;
const PADDED_BASE64 = /^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/** Whether a value is a certificate, stands for one, or is the name of its file. */
function isOfCertificate(value: string): boolean {
  if (CERTIFICATE.test(value)) return true;
  const text = PADDED_BASE64.test(value) ? Buffer.from(value, 'base64').toString('latin1').trimEnd() : '';
  if (/^[a-z]+(?:[ _-][a-z]+)*$/i.test(text) && isMadeOfWords(text)) return true;
  return isMadeOfWords(value) && !/[0-9]{2}/.test(value) && !isCredential(value);
}

/** The name before a value, whatever its words are joined with. */
const NAME_BEFORE = /([A-Za-z][\w.-]{5,60})\\*["'`]?\]?[ \t]*(?:=>|:=|=|:)[ \t]*$/;

/** A field that gets the variable of its own name: `SkipK8sSecret: skipK8sSecret`. */
function isSameName({ value, before }: Candidate): boolean {
  // Most values end with another letter than the name before them, which takes less time to see.
  if (lastOf(before) !== lastOf(value)) return false;
  const [, name = ''] = NAME_BEFORE.exec(before) ?? [];
  const bare = (text: string): string => text.replace(/[^A-Za-z0-9]/g, '').toLowerCase();
  return name !== '' && bare(name) === bare(value);
}

/** The last letter or digit of a text, in lower case. */
function lastOf(text: string): string {
  let at = text.length - 1;
  while (at >= 0 && !/[A-Za-z0-9]/.test(text.charAt(at))) at--;
  return text.charAt(at).toLowerCase();
}

const DAY = `(?:[0-9*/,?LW#-]+|(?:MON|TUE|WED|THU|FRI|SAT|SUN|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)(?:[-,](?:MON|TUE|WED|THU|FRI|SAT|SUN|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC))*)`;
/** A schedule of cron or Quartz: five to seven fields. */
const CRON = new RegExp(
  `^(?:@(?:yearly|annually|monthly|weekly|daily|midnight|hourly|reboot)|${DAY}(?: ${DAY}){4,6})$`,
  'i',
);

/** The name of a service or an account, with which a program asks a keyring. */
const LOOKED_UP =
  /(?:get|find|fetch|read|load|lookup|retrieve|delete|remove|has)_?(?:generic_?)?(?:password|secret|token|credentials?)\([ \t]*["'`]$/i;

const HEX_OR_BASE64 =
  /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{56}|[0-9a-f]{64}|[0-9a-f]{96}|[0-9a-f]{128}|[A-Za-z0-9+/]{27}=?|[A-Za-z0-9+/]{43}=?)$/i;
/** A hash of a password is worth hiding; one of anything else is not. */
const HASH_NAME = new RegExp(
  `(?:key|cert(?:ificate)?|token|file|apk|content|auth)[_-](?:hash|digest|checksum)${ASSIGNS}`,
  'i',
);
/** The remark that names the algorithm. */
const HASH_BEHIND = /^["'`,; \t]*(?:#|\/\/|--|\()[ \t]*(?:sha-?[0-9]{1,3}|md5|checksum|digest)\b/i;

/** What the names of ciphers, signatures and key derivations consist of. */
const ALGORITHM_WORDS: ReadonlySet<string> = new Set(
  (
    'aes des tripledes rsa rsaes rsassa dsa ecdsa eddsa ed ec ecdh ecdhe dh dhe hmac sha md pbe pbkdf pbkdfwith oaep ' +
    'pkcs pss gcm cbc ctr cfb ofb ecb xts ccm siv cts chacha xchacha poly salsa blowfish twofish camellia cast rc ' +
    'idea aria argon scrypt bcrypt tls ssl ssh nistp secp curve x none with and cert kw hs rs es ps dir null blake ' +
    'withhmac v id i d null wrap key'
  ).split(' '),
);
const MARKS_ALGORITHM =
  /aes|des|rsa|dsa|hmac|sha-?[0-9]|chacha|pbkdf|ecdh|argon|blowfish|camellia|(?:^|[^a-z])ed[0-9]/i;
const MAX_ALGORITHM_CHARS = 64;
/** Algorithm, mode and padding, as the Java Cryptography Architecture writes them. */
const TRANSFORMATION = /^[A-Za-z][A-Za-z0-9-]{1,15}\/[A-Z][A-Z0-9]{2,3}\/[A-Z][A-Za-z0-9-]{1,40}Padding$/;

/** Up to three capitals with a number of bits, as RFC 7518 and the names of curves have them: `RS256`, `A128GCM`, `P-384`. */
const WITH_BITS = /^[A-Z]{1,3}-?(?:128|192|224|256|384|512|521|25519|448)(?:[A-Z]{1,3}){0,2}$/;

/** Whether each word of a value is one of the names of algorithms: `AES/GCM/NoPadding`, `PBKDF2WithHmacSHA256`. */
function isAlgorithm(value: string): boolean {
  if (isSizedAlgorithm(value)) return true;
  if (TRANSFORMATION.test(value) && MARKS_ALGORITHM.test(value.split('/')[0] ?? '')) return true;
  if (value.length > MAX_ALGORITHM_CHARS || !/^[A-Za-z0-9/_.+-]+$/.test(value) || !MARKS_ALGORITHM.test(value))
    return false;
  const words = value.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? [];
  return words.length > 0 && words.every(isAlgorithmWord);
}

/** Whether each part of a value is such a name: `ES256K`, `A128CBC-HS256`, `ECDH-ES+A256KW`. */
function isSizedAlgorithm(value: string): boolean {
  if (WITH_BITS.test(value)) return true;
  const parts = value.split(/[-+]/);
  return (
    parts.length > 1 &&
    parts.some((part) => WITH_BITS.test(part)) &&
    parts.every((part) => WITH_BITS.test(part) || isAlgorithmWord(part))
  );
}

function isAlgorithmWord(word: string): boolean {
  const lower = word.toLowerCase();
  return (
    ALGORITHM_WORDS.has(lower) ||
    [...ALGORITHM_WORDS].some(
      (one) => one.length > 2 && lower.startsWith(one) && ALGORITHM_WORDS.has(lower.slice(one.length)),
    )
  );
}
