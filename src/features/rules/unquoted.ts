import type {
  ArithmeticCommand,
  ArithmeticWord,
  AssignmentPrefix,
  ParameterExpansionPart,
  Word,
  WordPart,
} from 'unbash';
import { baseName } from './wrappers.ts';

/** Operators whose operand keeps its single quotes as characters if the expansion stands in double quotes. */
const WITH_TEXT = /^:?[-+=?]$/;
const EXPANSION = /\$\(|`/;

/**
 * The texts of a node in which a shell takes single quotes for characters, so that it runs `$(…)` between them, although the parser
 * calls them constant: the operand of an expansion in double quotes, subscripts and arithmetic. Only those with such quotes.
 */
export function unquotedTexts(node: object): string[] {
  return textsOf(node).filter((text) => EXPANSION.test(text.slice(text.indexOf("'") + 1)) && text.includes("'"));
}

function textsOf(node: object): string[] {
  switch ('type' in node ? node.type : '') {
    case 'ParameterExpansion': {
      const { operator = '', operand, index = '', indexParts, slice } = node as ParameterExpansionPart;
      const words = [WITH_TEXT.test(operator) ? operand : undefined, slice?.offset, slice?.length];
      return [...words.flatMap(ofWord), index, ...decoded(indexParts)];
    }
    case 'ArithmeticExpansion':
      return 'text' in node ? [String(node.text).replace(/^\$(?:\(\(|\[)/, '')] : [];
    case 'ArithmeticCommand':
      return [(node as ArithmeticCommand).body];
    case 'ArithmeticWord': {
      const { value, parts } = node as ArithmeticWord;
      return [value, ...decoded(parts)];
    }
    case 'Assignment': {
      const { index = '', indexParts, array = [] } = node as AssignmentPrefix;
      return [index, ...decoded(indexParts), ...array.filter(({ text }) => text.startsWith('[')).flatMap(ofWord)];
    }
    default:
      return [];
  }
}

function ofWord(word: Word | undefined): string[] {
  return word === undefined ? [] : [word.text, ...decoded(word.parts)];
}

/** What `$'…'` stands for: its escapes may make an expansion. */
function decoded(parts: readonly WordPart[] = []): string[] {
  return parts.flatMap((part) => (part.type === 'AnsiCQuoted' ? [`'${part.value}`] : []));
}

/** The text in a place where quotes are characters: a here-document. */
export function asDocument(text: string): string {
  return `: <<END_OF_TEXT\n${text}\nEND_OF_TEXT\n`;
}

/** Shells that end `"${x:-'}` at the brace, as bash does in its POSIX mode. */
const POSIX_SHELLS: ReadonlySet<string> = new Set(['sh', 'dash', 'ash', 'ksh', 'mksh']);

/** Whether a word names such a shell, or turns that mode on: `set -o posix`, `POSIXLY_CORRECT=1`. */
export function isPosix(word: string): boolean {
  return POSIX_SHELLS.has(baseName(word)) || /posix/i.test(word);
}

/** Whether the end of an expansion depends on single quotes in it. */
export function endsByQuotes(node: object): boolean {
  if (!('type' in node) || node.type !== 'ParameterExpansion') return false;
  const { operator = '', operand } = node as ParameterExpansionPart;
  return WITH_TEXT.test(operator) && /'[^']*[}"\\]/.test(operand?.text ?? '');
}
