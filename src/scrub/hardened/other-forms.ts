import { isCredential } from '../credential.ts';
import { isMadeOfWords, SECRET_WORDS, wordsOf } from '../words.ts';

/** A value and the line around it. */
interface Candidate {
  value: string;
  before: string;
}

/** Longer values are not looked at. */
const MAX_CHARS = 256;

/**
 * Whether a value has a form that shows what it is: the rules of a validator, the path of an attribute, a reference to a keeper
 * of secrets, an object of settings, the number of a list or the name of a method in a URL, words after a scheme.
 */
export function isOtherForm({ value, before }: Candidate): boolean {
  if (value.length > MAX_CHARS) return false;
  if (
    HEX_NUMBER.test(value) ||
    isValidator(value) ||
    (PUBLISHABLE.test(value) && !SECRET_BEFORE.test(before)) ||
    isReference(value) ||
    isSettings(value)
  )
    return true;
  if (SCOPE.test(value) || (SCOPE_BEFORE.test(before) && isAccount(value))) return true;
  if (ATTRIBUTE_PATH.test(value) && ARGUMENT_BEFORE.test(before) && isMadeOfWords(value)) return true;
  if (LIST_ID_BEFORE.test(before) && LIST_ID.test(value)) return true;
  if (METHOD_BEFORE.test(before) && /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/.test(value)) return hasWords(value.split('_'));
  return SCHEME_BEFORE.test(before) && /[-_]/.test(value) && hasWords(value.split(/[-_]/));
}

/** A number of 32 bits, as programs write their constants. */
const HEX_NUMBER = /^0x[0-9a-f]{1,8}$/i;
/** The rules of Laravel for a text, as its documentation lists them: `required|string|min:16`. */
const TEXT_RULE =
  '(?:required|nullable|sometimes|present|filled|bail|string|alpha|alpha_num|alpha_dash|ascii|confirmed|current_password|' +
  '(?:min|max|size|between|digits|same|different|regex|not_regex|required_(?:if|unless|with|without)|exists|unique):[\\w,.-]{1,40})';
const DOCUMENTED_RULE = new RegExp(`^${TEXT_RULE}$`);

/** Whether a value is a list of such rules. A project may add some of its own, which are words: `required|min:16|secure_password`. */
function isValidator(value: string): boolean {
  const rules = value.split('|');
  const documented = rules.filter((rule) => DOCUMENTED_RULE.test(rule));
  return (
    documented.length > 1 &&
    2 * documented.length > rules.length &&
    rules.every((rule) => DOCUMENTED_RULE.test(rule) || (/^[a-z]+(?:_[a-z]+)+$/.test(rule) && isMadeOfWords(rule)))
  );
}

/**
 * Keys that their vendors call publishable, for the pages that everyone loads: Stripe (docs.stripe.com/keys), Clerk, Paystack;
 * Supabase (supabase.com/docs/guides/api/api-keys). `pk_` alone begins tokens of ClickUp.
 */
const PUBLISHABLE = /^(?:pk_(?:live|test)|sb_publishable)_[\w-]{1,120}\$?$/;
/** A key under the name of a secret, or in the place of a password, is used as one. */
const SECRET_BEFORE = /secret|private|passw|pwd|token|auth|bearer|:\/\//i;

/** For what a signed URL was made: account, day, region, service. The signature beside it is the secret. */
const SCOPE = /(?:%2F|\/)[0-9]{8}(?:%2F|\/)[\w-]+(?:%2F|\/)[\w-]+(?:%2F|\/)\w{2,8}_request$/i;
/** The same, cut off. A key id of AWS in it has a mark of its own. */
const SCOPE_BEFORE = /[?&]X-[A-Za-z]{3,8}-Credential=$/i;

/** An account of a service: an address of words. */
function isAccount(value: string): boolean {
  const [account = ''] = value.split(/%2F|\//i);
  return /^[a-z][\w.-]*(?:@|%40)[a-z][\w.-]*$/.test(account) && isMadeOfWords(account.replace(/%40/, '@'));
}

/** An element or the size of a list in the state of Terraform, as a test names it: `bound_audiences.0`, `tags.%`. */
const ATTRIBUTE_PATH = /^[a-z]+(?:_[a-z]+)+(?:\.[a-z_]+)*(?:\.(?:[0-9]{1,2}|[#%]))+$/;
/** An argument, at the beginning of its line or after another one. */
const ARGUMENT_BEFORE = /(?:^|[(,])[ \t]*"$/;
/** A value of a keeper of secrets by its address: a scheme, names, and the name of the field at the end. */
const REFERENCE = /^[a-z][a-z0-9+.-]{1,20}:\/\/([\w.-]+(?:\/[\w.-]+)*)\/([A-Za-z_-]{3,32})$/;
/** The ids of 1Password, which are no secrets: `op://vault/item/field`. */
const OP_ID = /^[a-z0-9]{26}$/;
const USER_FIELD = /^(?:user(?:name)?|login)$/i;

/** Whether a value is the address of a secret in words. Where another part is random, the address itself may open something. */
function isReference(value: string): boolean {
  const [, path, field = ''] = REFERENCE.exec(value) ?? [];
  if (path === undefined || !(USER_FIELD.test(field) || wordsOf(field).some((word) => SECRET_WORDS.has(word))))
    return false;
  const isOfOnePassword = value.startsWith('op://');
  return path
    .split('/')
    .every((part) => (isOfOnePassword && OP_ID.test(part)) || (isMadeOfWords(part) && !/[0-9]{2}/.test(part)));
}

/** An object of JSON in which every text is a word, a path or a number, and none has the name of a secret. */
function isSettings(value: string): boolean {
  if (!/^\{\s*"[\s\S]*\}$/.test(value)) return false;
  try {
    let isPlain = true;
    JSON.parse(value, (name, member) => {
      isPlain &&= !SECRET_MEMBER.test(name) && (typeof member !== 'string' || isPath(member));
    });
    return isPlain;
  } catch {
    return false;
  }
}

const SECRET_MEMBER = /pass|pwd|secret|token|key|cred|^pin$/i;

function isPath(text: string): boolean {
  return !/[0-9]/.test(text) && text.split(/[^A-Za-z]+/).every((part) => part.length <= 4 || isMadeOfWords(part));
}

const LIST_ID_BEFORE = /[?&](?:sid|cid|uid)=$/i;
/** A longer number may be the id of a session. */
const LIST_ID = /^[0-9]{1,7}$/;
const METHOD_BEFORE = /[?&;]auth(?:[_-]?(?:mechanism|method|type|plugin|source))?=$/i;
const SCHEME_BEFORE = /\b(?:basic|bearer)[ \t]+$/i;

const NUMBER_OR_ALGORITHM = /^(?:[0-9]{1,3}|(?:sha|md|base|ed|aes)[0-9]{1,5})$/;
/** Short words may be random letters. Of more parts than these, half are long. */
const FEW_PARTS = 3;
const LONG_WORD_CHARS = 5;

/** Whether all parts are words, algorithms or small numbers. Groups of random letters and digits are a key. */
function hasWords(parts: readonly string[]): boolean {
  const isWord = (part: string): boolean => /^[A-Za-z]?[a-z]{2,}$/.test(part) && isMadeOfWords(part);
  const long = parts.filter((part) => part.length >= LONG_WORD_CHARS && isWord(part));
  return (
    parts.length > 1 &&
    parts.some(isWord) &&
    parts.every((part) => isWord(part) || NUMBER_OR_ALGORITHM.test(part)) &&
    (parts.length <= FEW_PARTS || 2 * long.length >= parts.length) &&
    !isCredential(parts.join('-'))
  );
}
