import { entropyOf } from '../../exact/entropy.ts';

/** A value of a file or a variable, and its name there; "" if it has none. */
export interface NamedValue {
  name: string;
  value: string;
}

const MIN_CHARS = 8;
const MAX_CHARS = 65_536;
/** Bits per character; below, a value repeats itself. */
const MIN_ENTROPY = 2;
/** The same for a value whose name says nothing. */
const RANDOM_ENTROPY = 3.5;
const RANDOM_CHARS = 20;

const SECRET_NAME =
  /(?:TOKEN|SECRET|PASSW(?:OR)?D|PASSPHRASE|(?:^|[_.-])(?:PASS|PWD|PW|PAT|DSN|SALT)(?:$|[_.-])|CREDENTIAL|(?:^|[_.-]|API|PRIVATE|ACCESS|ENCRYPTION|SIGNING|MASTER|SERVICE)KEY|(?:^|[_.-])AUTH(?:$|[_.-])|WEBHOOK|COOKIE|SIGNATURE|LICENSE)/i;
/** Names that say the value is meant to be seen, or is only where a secret lies. */
const PUBLIC_NAME = /PUBLIC|^VITE_|_(?:FILE|PATH|DIR|URL_TEMPLATE|ID|NAME|TYPE|EXPIRY|EXPIRES|TTL|LENGTH|ALGORITHM)$/i;

/** True for names under which a secret is kept: of a variable, of a field. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !PUBLIC_NAME.test(name);
}

/** Words of which placeholders are made. */
const PLACEHOLDER_WORDS =
  /change|please|replace|insert|your?|my|the|here|me|this|example|sample|placeholder|dummy|fake|test(?:ing)?|default|development|production|local(?:host)?|dev|prod|todo|fixme|none|null|undefined|true|false|enabled?|disabled?|foo|bar|baz|secret|password|passwd|token|api|key|value|string|user(?:name)?|admin|root|x{3,}|\*+|\d{1,4}/gi;

/**
 * Returns the values worth masking anywhere: those with a telling name, those that look random, and the password in a
 * URL. Leaves out short and monotonous values, placeholders, switches, numbers, paths, addresses and references.
 * `isTelling`: the source holds secrets only, whatever the names.
 */
export function seedValues(values: readonly NamedValue[], isTelling = false): string[] {
  const found = values.flatMap(({ name, value }) => {
    const trimmed = value.trim();
    const fromUrl = urlSecrets(trimmed);
    if (fromUrl !== null) return fromUrl.filter(isWorthy);
    const isNamed = isTelling || isSecretName(name);
    return isWorthy(trimmed) && (isNamed || isRandom(trimmed)) ? [trimmed] : [];
  });
  return [...new Set(found)];
}

function isWorthy(value: string): boolean {
  if (value.length < MIN_CHARS || value.length > MAX_CHARS || entropyOf(value) < MIN_ENTROPY) return false;
  if (/^\d+$/.test(value) || /^[A-Za-z]?[a-z]+$/.test(value) || /^[A-Z]+$/.test(value)) return false;
  if (/^(?:\$|<.*>$|\{\{|%.*%$|\[SECRET)/.test(value) || /\$\{|\$\(/.test(value)) return false;
  return !isPath(value) && !isAddress(value) && !isPlaceholder(value);
}

function isPlaceholder(value: string): boolean {
  return value.replaceAll(PLACEHOLDER_WORDS, '').replaceAll(/[\W_]/g, '').length < 4;
}

/** Base64 contains slashes too: a path has short parts, or begins like a path and has no part that looks random. */
function isPath(value: string): boolean {
  if (!/^(?:\.{0,2}|~|[A-Za-z]:)[\\/][\w.\\/@+ -]*$/.test(value)) return false;
  return value.split(/[\\/]/).every((part) => part.length < RANDOM_CHARS || !hasDigitsAndBothCases(part));
}

/** A mail address, a host or an IP address, a version. Tokens hold dots too, but no lower-case ending without digits. */
function isAddress(value: string): boolean {
  if (/^[\w.+-]+@[\w-]+(?:\.[\w-]+)+$/.test(value)) return true;
  return /^(?:[a-z0-9-]{1,40}\.)+[a-z]{2,12}(?::\d+)?$/.test(value) || /^[\d.]+(?::\d+)?$/.test(value);
}

/** Of a value without a telling name. Hex alone may be the hash of anything. */
function isRandom(value: string): boolean {
  const isOneWord = value.length >= RANDOM_CHARS && /^[\w.~+/=-]+$/.test(value) && !/^[0-9a-f-]+$/i.test(value);
  return isOneWord && hasDigitsAndBothCases(value) && entropyOf(value) >= RANDOM_ENTROPY;
}

function hasDigitsAndBothCases(value: string): boolean {
  return /\d/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value);
}

/**
 * Returns what a URL hides: its password, otherwise its user, as written and decoded; nothing without userinfo. Null:
 * not a URL.
 */
function urlSecrets(value: string): string[] | null {
  const parts = /^[a-z][a-z0-9+.-]*:\/\/(?:(.*)@)?[^@\s]*$/i.exec(value);
  if (parts === null) return null;
  const [, userinfo = ''] = parts;
  const [user = '', ...password] = userinfo.split(':');
  const secret = password.join(':');
  const hidden = secret === '' || /^(?:x-oauth-basic|x)$/.test(secret) ? user : secret;
  return [...new Set([hidden, decoded(hidden)])];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
