import { isMadeOfWords } from '../words.ts';

const NAME = String.raw`[A-Za-z_$][\w$]*`;
const MEMBERS = String.raw`${NAME}(?:(?:\.|->|::|\?\.)${NAME})*`;
/** Written before an operand. */
const PREFIX = String.raw`(?:(?:new|await|typeof|not|yield|return)[ \t]+|[*&!+|~.]{1,2}[ \t]*)*`;

/** A call, an index or an object: everything up to the end of the value may be inside its brackets. */
const CALL = new RegExp(String.raw`^${PREFIX}${MEMBERS}(?:<[\w<>, ]*>)?[!?]?\((?:[^()]*|.*\)[^()]*)$`, 's');
const AFTER_CALL = /\)(?:[\s;,)\]}.:?[]|->|::|$)(?:[^()]*\()?[^()]*$|\([^()]*$/;
const INDEX = new RegExp(String.raw`^${PREFIX}${MEMBERS}\[(?:["'\w.$+-]*\]?|[^\]]*\])[.\w[\]()"',;:}]*$`);
const MEMBER = new RegExp(String.raw`^${PREFIX}${NAME}(?:(?:\.|->|::|\?\.)${NAME})+[;,:)\]}?!]*$`);
const IDENTIFIER = new RegExp(String.raw`^${PREFIX}${NAME}[;,:)\]}?!]*$`);
/** What an operator or a bracket begins is no literal if words follow. */
const OPERATOR = /^(?:[=([{)\]},;]|[<>]=?|!=|&&|\|\||[+&|.][ \t]*\(?[A-Za-z_$])/;
/** A member whose type the language knows: `kind: .password`. A password may begin with a dot too. */
const MEMBER_OF_TYPE = /^\.[A-Za-z_]/;
/** A name that is added to a string: `"PWD="+dir)`. */
const ADDED_NAME = /^[+.&][ \t]*\(?[A-Za-z_$.]+[)\]};,]*$/;
const LITERAL = /^(?:true|false|none|null|nil|undefined|self|this|nan|nullptr|void)[;,:)\]}]*$/i;
const NUMBER = /^[0-9]{1,9}[;,)\]}]*$/;
const NEGATIVE = /^-[0-9]{1,9}[;,)\]}]*$/;
/** A line of an enumeration in Swift, Scala or PHP. */
const CASE = /^[ \t]*case[ \t]+[A-Za-z_]\w*[ \t]*=/;
/** Names that begin an expression in the languages that have no other sign of one. */
const ROOTS =
  /^(?:self|this|cls|super|var|local|module|data|each|req|request|res|response|process|os|config|settings|args|argv|env|options|opts|params|props|state|ctx|context|body|user|session|window|app|cfg|conf|input|payload|form|event)(?:\.|->|::|\?\.)/;
const TYPE_PATH = /^:[A-Za-z_]\w*(?:::\w+)*[;,:)\]}(]*$/;
/** Fewer letters and digits than this are not looked at as a name: `x`, `pw`, `None`. */
const SHORT_NAME_CHARS = 5;

interface RightSide {
  value: string;
  before: string;
  after: string;
}

/** Whether what stands on the right side of an assignment, without quotes, is computed. `isInCode`: asked only if needed. */
export function isExpression({ value, before, after }: RightSide, isInCode: () => boolean): boolean {
  if (LITERAL.test(value)) return true;
  // The second colon of a path: `Password::Sha256`.
  if (TYPE_PATH.test(value) && /\w:$/.test(before)) return isName(value);
  if (MEMBER_OF_TYPE.test(value) && !/["'`][ \t]*$/.test(before))
    return isName(value) && !NUMBERED.test(value) && (value.includes('(') || isCallArgument(before) || isInCode());
  if (OPERATOR.test(value)) return ADDED_NAME.test(value) || isName(value);
  // The number of a constant, as in an enumeration.
  if (NEGATIVE.test(value)) return SPACED_SIGN.test(before) && (CASE.test(before) || isInCode());
  if (NUMBER.test(value)) return (/^,/.test(after) && SPACED_SIGN.test(before)) || isInCode();
  const argument = /^[A-Za-z_]\w*=/.exec(value)?.[0];
  if (argument !== undefined && /[,(][ \t]*$/.test(before)) return isName(value.slice(argument.length));
  if (CALL.test(value) && AFTER_CALL.test(value) && isName(value.slice(0, value.indexOf('(')))) return true;
  // In a file of settings, what stands in brackets after a blank is a remark: `password: Kangaroo42 (change it)`.
  const isCalled = /^\(/.test(after) || (/^[ \t]+\(/.test(after) && isInCode());
  if (isCalled && IDENTIFIER_PATH.test(value) && isName(value)) return true;
  if (INDEX.test(value) && isName(value.slice(0, value.indexOf('[')))) return true;
  if (/^\[/.test(after) && IDENTIFIER_PATH.test(value) && isName(value)) return true;
  if (MEMBER.test(value) && isName(value)) return ROOTS.test(value) || isCallArgument(before) || isInCode();
  if (!IDENTIFIER.test(value) || !isName(value) || NUMBERED.test(value)) return false;
  return isCallArgument(before) || (isStatement(before, value + after) && isInCode());
}

/** What begins an operator or a bracket, or has a call in it. */
const SIGN_OF_CODE = /^(?:[\w.]+->|[+&.|\])}(,;:=<{[])|\(\)|\w\(|=>/;
const SHORT_CALL = /^[A-Za-z_.]+\(\)[;,]?$/;

/**
 * Whether a value in quotes is code all the same: what stands between two strings, as `'&password='+value+'&'`, or code
 * in a string. Code consists of words; a password such as `]x9$f(2q` or `Winter(2024)` does not.
 */
export function isCodeInQuotes({ value, before }: Pick<RightSide, 'value' | 'before'>): boolean {
  if (!SIGN_OF_CODE.test(value)) return false;
  if (SHORT_CALL.test(value)) return true;
  const [quote = '"'] = /["'`]$/.exec(before) ?? [];
  // An even number of quotes: the last one closes a string.
  if (before.split(quote).length % 2 === 1 && isName(value)) return true;
  return isMadeOfWords(value) && !/[0-9]{2}/.test(value);
}

/** Words with a number are passwords sooner than names: kangaroo42. */
const NUMBERED = /[A-Za-z][0-9]{2,}[;,:)\]}?!]*$/;
/** An assignment with blanks around its sign. Without them it is one of a shell, where a word is a literal. */
const SPACED_SIGN = /[ \t](?:=>|:=|[-+|?]{0,2}=)[ \t]+[=!]{0,2}[ \t]*$/;
/** A field of an object or a parameter with its type; a file of settings ends such a line with the value. */
const FIELD = /:[ \t]*$/;
const FIELD_END = /^[^\s,;)}\]|]+[ \t]*[,;)}\]|=]/;

/** Whether the line can be one of a language in which a bare word is a name. `rest`: from the value to the end of the line. */
function isStatement(before: string, rest: string): boolean {
  return SPACED_SIGN.test(before) || (FIELD.test(before) && FIELD_END.test(rest));
}

const IDENTIFIER_PATH = new RegExp(`^${PREFIX}${MEMBERS}$`);

/** Words that end with a number in every program: `base64`, `toSha256`. */
const NUMBERED_WORDS =
  /(?:(?<![A-Za-z0-9])(?:base|sha|md|utf|u?int|float|oauth|pbkdf|argon|blake|crc|aes|rsa|ed|x|ipv|http)|(?<![A-Z0-9])(?:Base|S[Hh][Aa]|M[Dd]|U[Tt][Ff]|U?[Ii]nt|Float|OA?uth|O[Aa]uth|P[Bb][Kk][Dd][Ff]|Argon|Blake|C[Rr][Cc]|A[Ee][Ss]|R[Ss][Aa]|Ed|I[Pp][Vv]|H[Tt][Tt][Pp]))_?(?:25519|[1-9][0-9]{0,3})(?![0-9])/g;
/** A constant of a class or a package: `Jwts.KEY.A256GCMKW`. */
const CONSTANT = /^[A-Z][A-Z0-9_]{1,15}$/;

/** Whether each part of a path of members is a word, or words. Random letters and digits are a value. */
function isName(path: string): boolean {
  const parts = path
    .replace(NUMBERED_WORDS, 'WordWord')
    .split(/[^\w$]+/)
    .filter((part) => part !== '' && !PREFIX_WORDS.has(part));
  const isPart = (part: string): boolean =>
    part.length < SHORT_NAME_CHARS ? !MIXED.test(part) : isMadeOfWords(part) || isSnakeName(part);
  return parts.every((part, at) => isPart(part) || (at > 0 && CONSTANT.test(part)));
}

/** Words in small letters joined by `_`, of which short ones may be abbreviations without a vowel: `aws_ssm_parameter`. */
function isSnakeName(part: string): boolean {
  const words = part.split('_');
  const isWord = (word: string): boolean => word.length > MAX_ABBREVIATION_CHARS && isMadeOfWords(word);
  return (
    words.length > 2 &&
    /^[a-z_]+$/.test(part) &&
    words.every((word) => word.length <= MAX_ABBREVIATION_CHARS || isMadeOfWords(word)) &&
    2 * words.filter(isWord).length >= words.length - 1
  );
}

const MAX_ABBREVIATION_CHARS = 4;

/** Letters and digits in turn, which short names do not have: `b4d`. */
const MIXED = /[A-Za-z][0-9]+[A-Za-z]|[0-9][A-Za-z]/;

const PREFIX_WORDS: ReadonlySet<string> = new Set(['new', 'await', 'typeof', 'not', 'yield', 'return']);

/** Whether a bracket that a name precedes is open: `User(email=email, password=`. */
function isCallArgument(before: string): boolean {
  let depth = 0;
  for (let at = before.length - 1; at >= 0; at--) {
    if (before[at] === ')') depth += 1;
    else if (before[at] === '(') {
      if (depth === 0) return /[\w$>]$/.test(before.slice(0, at));
      depth -= 1;
    }
  }
  return false;
}

/** Lines and characters on each side that show in what language a line is written. */
const MAX_LINES = 12;
const MAX_CHARS = 1500;
/** What diff, grep or a line number put before a line. */
const LINE_PREFIX = /^(?:[\w./@+-]+\.\w{1,6}[:-])?(?:\d{1,6}[:|-])?[ \t]*[+>-]?[ \t]*/;
const CODE_LINE =
  /^(?:def|class|func|fn|function|return|import|from|if|for|while|else|elif|elsif|try|except|with|const|let|var|val|public|private|protected|internal|static|final|async|await|export|package|use|using|namespace|end|case|switch|struct|interface|impl|raise|throw|assert|yield|print|module|resource|variable|do|begin|catch)\b.*(?:[(){};:=,"]|\bdo|\bthen|^\w+)$|^(?:self|this)\.|^@\w+|[;{}]$|\w\(.*\)[^()]*$|\w\($|^[)}\]]+[;,)]*$|=>|->|:=|^\/\/|^\/\*|^\*\s|^\w+(?:\.\w+)+ = /;
const CONFIG_LINE =
  /^(?:export[ \t]+|set[ \t]+|-[ \t]+)?["']?[A-Za-z_][\w.-]*["']?[ \t]*(?:=[ \t]*[^\s(){};]*|:[ \t]*[^(){};,]*)$|^\[[\w ."-]+\]$|^#/;
const CODE_FILE =
  /(?:^|[\s/])[\w@+-]+\.(?:[cm]?[jt]sx?|py|go|rs|java|kt|rb|php|cs|cpp|cc|hpp|c|h|swift|scala|tf)[:-]\d{1,6}[:-]/;

/** Whether the lines around an offset look like source code rather than like a file of settings. */
export function isCode(text: string, at: number): boolean {
  const first = Math.max(0, at - MAX_CHARS);
  const lineStart = first + text.slice(first, at).lastIndexOf('\n') + 1;
  if (CODE_FILE.test(text.slice(lineStart, Math.min(at, lineStart + 300)))) return true;
  const before = text
    .slice(Math.max(0, lineStart - MAX_CHARS), lineStart)
    .split('\n')
    .slice(-MAX_LINES);
  const after = text
    .slice(lineStart, lineStart + MAX_CHARS)
    .split('\n')
    .slice(0, MAX_LINES);
  let score = 0;
  for (const line of [...before, ...after]) {
    const bare = line.replace(LINE_PREFIX, '').trimEnd();
    if (bare === '') continue;
    if (CODE_LINE.test(bare)) score += 2;
    else if (CONFIG_LINE.test(bare)) score -= 1;
  }
  return score >= 2;
}
