import { isCredential } from '../credential.ts';
import { isMadeOfWords } from '../words.ts';

const B64 = '[A-Za-z0-9+/]';
/**
 * Formats of encrypted values: SOPS and eyaml, EJSON. Each holds base64 of at least the length that the cipher makes. A password
 * in brackets does not.
 */
const ENCRYPTED =
  String.raw`ENC\[[A-Z0-9_]{3,12},(?:data:${B64}*={0,2},iv:${B64}{4,}={0,2},(?:tag:${B64}{4,}={0,2},)?type:[a-z]{3,8}|${B64}{64,}={0,2})\]|` +
  String.raw`EJ\[[0-9]:${B64}{43}=:${B64}{32}:${B64}{20,}={0,2}\]`;
/** The same of Spring Cloud Config and of Vault, which have a mark and no end. */
const MARKED_CIPHER = String.raw`^(?:\{cipher\}(?:[0-9a-f]{64,}|${B64}{64,}={0,2})|vault:v[0-9]{1,4}:${B64}{38,}={0,2})$`;

/** Templates with signs that hardly anything else has. */
const MARKED = new RegExp(
  String.raw`\$\{\{[^{}]*\}\}|\{\{[^{}]*\}\}|[$#%@]\{[^{}\s]*\}|\$\([^()]*\)|\\\([^()]*\)|%\([^()\s]*\)[sdr]|<%.*?%>|\{%.*?%\}|` +
    String.raw`ENC\([^()]*\)|!vault\b.*|${ENCRYPTED}|${MARKED_CIPHER}`,
  'g',
);
/** Templates whose signs a password may have too. They count if they hold a name. */
const NAMED =
  /<([A-Za-z/%!?][\w .:/-]*)>|\{([A-Za-z_][\w.[\]()'"!:]*|[01]?)\}|^\[([A-Za-z][A-Za-z _-]*)\]$|%([A-Za-z_][\w.]{2,})%|^%([A-Z_]+)$|(?<![A-Za-z0-9])\$([A-Za-z_]\w*)(?:\[\w{1,20}\]|->\w{1,30})*|(?<![A-Za-z0-9])\$([0-9@*#?!])(?![A-Za-z0-9])|\$\[([\w.]+)\]|^[:@]([A-Za-z_]\w*)$|&lt;([\w .:-]*)&gt;|%(?:[svqr@]|d(?![0-9A-Fa-f]))/g;
const WHOLE_ENCRYPTED = new RegExp(`^(?:${ENCRYPTED})$`);

/** Whether a program encrypted a value, in the brackets of its format. */
export function isEncrypted(value: string): boolean {
  return WHOLE_ENCRYPTED.test(value);
}

/** A `$` before a bracket as a string of a program has it. */
const ESCAPED_SIGN = /(?:\\u0024|\\x24|\\\$|&#36;|&#x24;)(?=[{(])/g;
/** How a template begins that a blank cut off. */
const OPEN = /[$#@]\{|\{\{|\}\}|\{%|<%|\$\(|^[{<]/;
/** Joined to a template, fewer letters and digits than this in a row are no secret: `v1-{{ name }}`. */
const MIN_RUN = /[A-Za-z0-9]{4}/;

/**
 * Whether a value consists of templates that other text replaces: `${NAME}`, `{{ name }}`, `%s`, `$1`, `<name>`. Beside
 * them may stand words and signs. In quotes a template must be closed: a `$` or a `{` alone hides no password.
 */
export function isTemplate(written: string, isQuoted: boolean): boolean {
  if (!/[{[(<$!%:@&]/.test(written)) return false;
  const value = written.replace(ESCAPED_SIGN, '$');
  if (withoutTemplate(value) !== value) return false;
  if (!isQuoted && OPEN.test(value)) return true;
  const rest = value.replace(MARKED, ' ');
  if (rest !== value && (!MIN_RUN.test(rest) || isMadeOfWords(rest))) return true;
  const bare = rest.replace(NAMED, ' ');
  if (bare === rest || (/[A-Za-z0-9]/.test(bare) && !isMadeOfWords(bare))) return false;
  return [...rest.matchAll(NAMED)].every(([, ...names]) => isTemplateName(names.find((name) => name !== undefined)));
}

/** A template at the end of a value, which a blank may have cut off. */
const LAST = /(?:\$\{\{[^{}]*\}\}|\{\{[^{}]*(?:\}\})?|[$#%@]\{[^{}\s]*\}|\$\([^()]*\))$/;

/** A random value without the template right after it: `k4…${STAGE}`. Others are returned as they are. */
export function withoutTemplate(value: string): string {
  const rest = value.replace(LAST, '');
  return rest !== value && isCredential(rest) ? rest : value;
}

/** A name of a variable may be short, or an abbreviation; it is in one case or made of words. */
function isTemplateName(name = ''): boolean {
  return /^(?:[A-Z_ -]*|[a-z_. -]*)[0-9]?$/.test(name) || isMadeOfWords(name);
}
