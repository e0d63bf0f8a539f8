import type { Command, Redirect, Statement, Word } from 'unbash';
import { ANY_HOLE, asConstant, STREAM_HOLE } from './pattern.ts';
import { echoed, nameText, wordText } from './words.ts';
import { baseName } from './wrappers.ts';

/** What commands read that read commands from their input. */
export type Input =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text'; readonly text: string }
  /** Comes from a program, or later. */
  | { readonly kind: 'unknown' };

/** What `xargs` may add to its command. Without input it runs the command as it is. */
export function givenBy(input: Input): readonly string[] {
  if (input.kind === 'nothing') return [''];
  return input.kind === 'text' ? [input.text.trim().replaceAll(/\s+/g, ' ')] : ['', ANY_HOLE];
}

/** What a command reads, given its redirections. A file is not read. */
export function inputFrom(redirects: readonly Redirect[], before: Input): Input {
  let input = before;
  for (const { operator, content, target, fileDescriptor = 0 } of redirects) {
    if (fileDescriptor !== 0) continue;
    if (operator === '<<' || operator === '<<-') input = { kind: 'text', text: asConstant(content ?? '') };
    if (operator === '<<<') input = { kind: 'text', text: target === undefined ? '' : wordText(target) };
    if (operator === '<' || operator === '<>') input = isStream(target) ? { kind: 'unknown' } : { kind: 'nothing' };
  }
  return input;
}

function isStream(word: Word | undefined): boolean {
  return word !== undefined && wordText(word) === STREAM_HOLE;
}

/** What the next command of a pipeline reads. */
export function outputOf(node: unknown): Input {
  const command = simpleCommand(node);
  if (command?.name === undefined) return { kind: 'unknown' };
  const words = command.suffix.map(wordText);
  switch (baseName(nameText(command.name))) {
    case 'echo':
      return { kind: 'text', text: echoed(words) };
    case 'printf':
      // Its escapes end lines; what its other arguments become is not worked out.
      return words.length === 1
        ? { kind: 'text', text: (words[0] ?? '').replaceAll('\\n', '\n').replaceAll('%%', '%') }
        : { kind: 'unknown' };
    case 'cat': {
      const input = inputFrom(command.redirects, { kind: 'unknown' });
      return words.length === 0 && input.kind === 'text' ? input : { kind: 'unknown' };
    }
    default:
      return { kind: 'unknown' };
  }
}

export function simpleCommand(node: unknown): Command | undefined {
  const inner = isTyped(node, 'Statement') ? (node as Statement).command : node;
  return isTyped(inner, 'Command') ? (inner as Command) : undefined;
}

export function isTyped(node: unknown, type: string): boolean {
  return typeof node === 'object' && node !== null && 'type' in node && node.type === type;
}
