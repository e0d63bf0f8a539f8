import { type Command, type CommandExpansionPart, type ParsedScript, parse, type Word, type WordPart } from 'unbash';
import { ANY_HOLE, asConstant, OUTPUT_HOLE, SPLIT_HOLE, STREAM_HOLE, WORD_HOLE } from './pattern.ts';
import { baseName, SHELLS, WRAPPERS, wrappedWords } from './wrappers.ts';

/** The word as the shell passes it on, with holes for what only the shell knows. Names of files stay patterns. */
export function wordText(word: Word): string {
  const { parts } = word;
  if (parts === undefined) return literalText(word);
  const place = parts.length === 1 ? 'alone' : 'unquoted';
  return parts.map((part) => partText(part, place)).join('');
}

/** The same for a word that names a program: a pattern for names of files is not a name. */
export function nameText(word: Word): string {
  const parts = word.parts ?? [{ type: 'Literal', value: word.value, text: word.text } as const];
  const place = parts.length === 1 ? 'alone' : 'unquoted';
  const text = parts.map((part) => (isGlob(part) ? WORD_HOLE : partText(part, place))).join('');
  return text.replaceAll(/\uE001+/g, WORD_HOLE);
}

/** The parser leaves some expansions in texts that it calls literal. */
function literalText({ text, value }: { text: string; value: string }): string {
  return text === value && /\$[({]|`|[<>]\(/.test(text) ? ANY_HOLE : asConstant(value);
}

/** An argument with names of files in place of each pattern for them. Undefined for a word without one. */
export function filledText(word: Word): string | undefined {
  const parts = word.parts ?? [{ type: 'Literal', value: word.value, text: word.text } as const];
  if (!parts.some(isGlob)) return undefined;
  const filled = parts.map((part) =>
    isGlob(part) ? asConstant(part.text).replaceAll(/\[[^\]]*\]|[*?]+/g, WORD_HOLE) : partText(part, 'unquoted'),
  );
  return filled.join('');
}

/** `[` is a program. */
function isGlob(part: WordPart): boolean {
  return part.type === 'Literal' && part.value !== '[' && /[*?[]/.test(part.text.replaceAll(/\\./gs, ''));
}

/** An expansion that is only a part of its word hides no more than one blank: `$DIR/run` is read as one word. */
function partText(part: WordPart, place: 'alone' | 'unquoted' | 'quoted'): string {
  switch (part.type) {
    case 'Literal':
      return literalText(part);
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return asConstant(part.value);
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts.map((inner) => partText(inner, /@/.test(inner.text) ? 'alone' : 'quoted')).join('');
    case 'ProcessSubstitution':
      return outputOf(part) === OUTPUT_HOLE ? OUTPUT_HOLE : STREAM_HOLE;
    case 'ArithmeticExpansion':
    case 'ExtendedGlob':
      return WORD_HOLE;
    case 'BraceExpansion':
      return ANY_HOLE;
    case 'CommandExpansion':
      return outputOf(part) ?? holeAt(place);
    case 'SimpleExpansion':
    case 'ParameterExpansion':
      return holeAt(place);
  }
}

function holeAt(place: 'alone' | 'unquoted' | 'quoted'): string {
  if (place === 'alone') return ANY_HOLE;
  return place === 'unquoted' ? SPLIT_HOLE : WORD_HOLE;
}

/** The text that `echo` prints, or a hole if the words of the commands do not say what they print; null if they may. */
function outputOf({ script, inner }: Pick<CommandExpansionPart, 'script' | 'inner'>): string | null {
  const parsed: ParsedScript | undefined = script ?? (inner === undefined ? undefined : parse(inner));
  if (parsed === undefined || (parsed.errors ?? []).length > 0) return null;
  const commands = plainCommands(parsed);
  if (commands === null) return null;
  const [first = []] = commands;
  const found = commands.length === 1 ? foundProgram(first) : undefined;
  if (found !== undefined) return found;
  if (commands.length === 1 && baseName(first[0] ?? '') === 'echo') return echoed(first.slice(1));
  return commands.every(([name = '', ...words]) => !PRINTING.has(baseName(name)) && words.every(isPlain))
    ? OUTPUT_HOLE
    : null;
}

/** The shell whose path is printed. */
function foundProgram([name = '', ...words]: readonly string[]): string | undefined {
  const operands = words.filter((word) => !word.startsWith('-'));
  const isSearch =
    ['which', 'where'].includes(name) ||
    (['command', 'type', 'whence'].includes(name) && words.length > operands.length);
  return isSearch && operands.length === 1 && SHELLS.has(operands[0] ?? '') ? operands[0] : undefined;
}

/** What `echo` prints of its words; null if it makes other text of a backslash, which some shells do without `-e` too. */
export function echoed(words: readonly string[]): string | null {
  const from = words.findIndex((word) => !/^-[neE]+$/.test(word));
  const options = from === -1 ? words : words.slice(0, from);
  const text = words.slice(options.length).join(' ');
  const isDecoded = options.some((word) => word.includes('e')) ? /\\/ : /\\[\\0abcefnrtv]/;
  return isDecoded.test(text) ? null : text;
}

/** Programs that print their words, or what another machine answers. */
const PRINTING = new Set(['echo', 'printf', 'yes', 'curl', 'wget', 'nc', 'ssh']);

/** No text of a shell, no address of a text. */
function isPlain(word: string): boolean {
  return /^[\w./@+,:=~^-]+$/.test(word) && !word.includes('://');
}

/** The words of a script of simple commands, without the programs that start them; null for any other script. */
function plainCommands(script: ParsedScript): string[][] | null {
  const commands: string[][] = [];
  const isPlainNode = (node: unknown): boolean => {
    if (Array.isArray(node)) return node.every(isPlainNode);
    if (typeof node !== 'object' || node === null || !('type' in node)) return false;
    switch (node.type) {
      case 'Statement':
        return 'command' in node && isPlainNode(node.command) && 'redirects' in node && isWithoutText(node.redirects);
      case 'Pipeline':
      case 'AndOr':
        return 'commands' in node && isPlainNode(node.commands);
      case 'Command': {
        const { name, suffix, redirects, prefix } = node as Command;
        if (name === undefined || prefix.length > 0 || !isWithoutText(redirects)) return false;
        commands.push(unwrapped([nameText(name), ...suffix.map(wordText)]));
        return true;
      }
      default:
        return false;
    }
  };
  return isPlainNode(script.commands) ? commands : null;
}

function unwrapped(words: string[]): string[] {
  const name = baseName(words[0] ?? '');
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  const inner = wrapper === undefined ? [] : wrappedWords(wrapper, words);
  return inner.length === 0 ? words : unwrapped(inner);
}

function isWithoutText(redirects: unknown): boolean {
  return Array.isArray(redirects) && redirects.every(({ operator }) => !['<<', '<<-', '<<<'].includes(operator));
}
