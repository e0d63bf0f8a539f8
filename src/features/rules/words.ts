import type { Word, WordPart } from 'unbash';
import { ANY_HOLE, asConstant, STREAM_HOLE, WORD_HOLE } from './pattern.ts';

/** The word as the shell passes it on, with holes for what only the shell knows. Names of files stay patterns. */
export function wordText(word: Word): string {
  const { parts } = word;
  if (parts === undefined) return literalText(word);
  const isAlone = parts.length === 1;
  return parts.map((part) => partText(part, isAlone)).join('');
}

/** The same for a word that names a program: a pattern for names of files is not a name. */
export function nameText(word: Word): string {
  const parts = word.parts ?? [{ type: 'Literal', value: word.value, text: word.text } as const];
  const isAlone = parts.length === 1;
  const text = parts.map((part) => (isGlob(part) ? WORD_HOLE : partText(part, isAlone))).join('');
  return text.replaceAll(/\uE001+/g, WORD_HOLE);
}

/** The parser leaves some expansions in texts that it calls literal. */
function literalText({ text, value }: { text: string; value: string }): string {
  return text === value && /\$[({]|`|[<>]\(/.test(text) ? ANY_HOLE : asConstant(value);
}

/** `[` is a program. */
function isGlob(part: WordPart): boolean {
  return part.type === 'Literal' && part.value !== '[' && /[*?[]/.test(part.text.replaceAll(/\\./gs, ''));
}

/** An expansion that is only a part of its word hides no blank: `$DIR/run` is read as one word. */
function partText(part: WordPart, isAlone: boolean): string {
  switch (part.type) {
    case 'Literal':
      return literalText(part);
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return asConstant(part.value);
    case 'DoubleQuoted':
    case 'LocaleString':
      return part.parts
        .map((inner) => (/@/.test(inner.text) ? partText(inner, true) : partText(inner, false)))
        .join('');
    case 'ProcessSubstitution':
      return STREAM_HOLE;
    case 'ArithmeticExpansion':
    case 'ExtendedGlob':
      return WORD_HOLE;
    case 'BraceExpansion':
      return ANY_HOLE;
    case 'SimpleExpansion':
    case 'ParameterExpansion':
    case 'CommandExpansion':
      return isAlone ? ANY_HOLE : WORD_HOLE;
  }
}
