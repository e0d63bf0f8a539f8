import { isMadeOfWords } from '../words.ts';

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
  if (isValidator(value) || isReference(value) || isSettings(value)) return true;
  if (SCOPE.test(value) || SCOPE_BEFORE.test(before)) return true;
  if (ATTRIBUTE_PATH.test(value) && isMadeOfWords(value)) return true;
  if (LIST_ID_BEFORE.test(before) && /^[0-9]{1,12}$/.test(value)) return true;
  if (METHOD_BEFORE.test(before) && /^[a-z][a-z0-9]*(?:_[a-z0-9]+)+$/.test(value)) return hasWords(value.split('_'));
  return SCHEME_BEFORE.test(before) && /[-_]/.test(value) && hasWords(value.split(/[-_]/));
}

/** `required|string|min:16`. */
const VALIDATOR = /^[a-z_]{3,24}(?::[\w,.-]{1,40})?(?:\|[a-z_]{3,24}(?::[\w,.-]{1,40})?)+$/;

function isValidator(value: string): boolean {
  return VALIDATOR.test(value) && value.split('|').every((part) => isMadeOfWords(part.replace(/:.*/, '')));
}

/** For what a signed URL was made: account, day, region, service. The signature beside it is the secret. */
const SCOPE = /(?:%2F|\/)[0-9]{8}(?:%2F|\/)[\w-]+(?:%2F|\/)[\w-]+(?:%2F|\/)\w{2,8}_request$/i;
/** The same, cut off. A key id of AWS in it has a mark of its own. */
const SCOPE_BEFORE = /[?&]X-[A-Za-z]{3,8}-Credential=$/i;
/** An element or the size of a list in the state of Terraform: `bound_audiences.0`, `tags.%`. */
const ATTRIBUTE_PATH = /^[a-z][a-z_]*(?:\.[a-z_]+)*(?:\.(?:[0-9]{1,3}|[#%]))+$/;
/** A value of a keeper of secrets by its address: a scheme, two names or ids, and the name of the field at the end. */
const REFERENCE = /^[a-z][a-z0-9+.-]{1,20}:\/\/[\w.-]+(?:\/[\w.-]+)*\/([A-Za-z_-]{3,32})$/;
/** Schemes of programs that the address of a secret itself may open. */
const OF_NETWORK = /^(?:https?|wss?|s?ftp|ssr?|v[lm]ess|trojan):/;

function isReference(value: string): boolean {
  const [, field] = REFERENCE.exec(value) ?? [];
  return field !== undefined && !OF_NETWORK.test(value) && isMadeOfWords(field);
}

/** An object of JSON in which every text is a word, a path or a number. */
function isSettings(value: string): boolean {
  if (!/^\{\s*"[\s\S]*\}$/.test(value)) return false;
  try {
    let isPlain = true;
    JSON.parse(value, (_, member) => {
      isPlain &&= typeof member !== 'string' || isPath(member);
    });
    return isPlain;
  } catch {
    return false;
  }
}

function isPath(text: string): boolean {
  return !/[0-9]/.test(text) && text.split(/[^A-Za-z]+/).every((part) => part.length <= 4 || isMadeOfWords(part));
}

const LIST_ID_BEFORE = /[?&](?:sid|cid|uid)=$/i;
const METHOD_BEFORE = /[?&;]auth(?:[_-]?(?:mechanism|method|type|plugin|source))?=$/i;
const SCHEME_BEFORE = /\b(?:basic|bearer)[ \t]+$/i;

/** Whether some parts are words, and the others short or numbers. */
function hasWords(parts: readonly string[]): boolean {
  const isSmall = (part: string): boolean => part.length <= 4 || /^(?:sha|md|base|ed|aes)[0-9]{1,5}$/.test(part);
  return (
    parts.length > 1 &&
    parts.every((part) => isSmall(part) || isMadeOfWords(part)) &&
    !parts.every((part) => /[0-9]/.test(part))
  );
}
