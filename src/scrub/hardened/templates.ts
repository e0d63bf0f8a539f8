import { isMadeOfWords } from '../words.ts';

/** Templates with signs that hardly anything else has. */
const MARKED =
  /\$\{\{[^{}]*\}\}|\{\{[^{}]*\}\}|[$#%@]\{[^{}\s]*\}|\$\([^()]*\)|\\\([^()]*\)|%\([^()\s]*\)[sdr]|<%.*?%>|\{%.*?%\}|\b[A-Z]{2,5}\[[A-Z0-9][A-Za-z0-9_]*[:,][^\]]*\]|ENC\([^()]*\)|^(?:\{cipher\}|vault:v\d+:)\S+$|!vault\b.*/g;
/** Templates whose signs a password may have too. They count if they hold a name. */
const NAMED =
  /<([A-Za-z/%!?][\w .:/-]*)>|\{([A-Za-z_][\w.[\]()'"!:]*|[01]?)\}|^\[([A-Za-z][A-Za-z _-]*)\]$|%([A-Za-z_][\w.]{2,})%|^%([A-Z_]+)$|(?<![A-Za-z0-9])\$([A-Za-z_]\w*)(?:\[\w{1,20}\]|->\w{1,30})*|(?<![A-Za-z0-9])\$([0-9@*#?!])(?![A-Za-z0-9])|\$\[([\w.]+)\]|^[:@]([A-Za-z_]\w*)$|&lt;([\w .:-]*)&gt;|%(?:[svqr@]|d(?![0-9A-Fa-f]))/g;
/** A value that a program encrypted, in the brackets of its format: `ENC[…]`, `EJ[…]`. */
export function isEncrypted(value: string): boolean {
  return /^[A-Z]{2,5}\[[A-Z0-9][A-Za-z0-9_]*[:,][^\]]*\]$/.test(value);
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
  if (!isQuoted && OPEN.test(value)) return true;
  const rest = value.replace(MARKED, ' ');
  if (rest !== value && (!MIN_RUN.test(rest) || isMadeOfWords(rest))) return true;
  const bare = rest.replace(NAMED, ' ');
  if (bare === rest || (/[A-Za-z0-9]/.test(bare) && !isMadeOfWords(bare))) return false;
  return [...rest.matchAll(NAMED)].every(([, ...names]) => isTemplateName(names.find((name) => name !== undefined)));
}

/** A name of a variable may be short, or an abbreviation; it is in one case or made of words. */
function isTemplateName(name = ''): boolean {
  return /^(?:[A-Z_ -]*|[a-z_. -]*)[0-9]?$/.test(name) || isMadeOfWords(name);
}
