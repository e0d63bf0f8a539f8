import type { Command, Redirect, Statement } from 'unbash';
import { ANY_HOLE, asConstant, STREAM_HOLE } from './pattern.ts';
import { echoed, filledText, nameText, wordText } from './words.ts';
import { baseName } from './wrappers.ts';

/** What commands read that read commands from their input. */
export type Input =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'text'; readonly text: string }
  /** Comes from a program, or later. `written`: the words that the program makes it of. */
  | { readonly kind: 'unknown'; readonly written?: string };

/**
 * What `xargs` may add to its command. Without input it runs the command as it is. `isSplit`: it may make several commands of a
 * list. It takes quotes and backslashes off.
 */
export function givenBy(input: Input, isSplit: boolean): readonly string[] {
  if (input.kind === 'nothing') return [''];
  if (input.kind === 'unknown') return ['', ANY_HOLE];
  const items = input.text.trim().replaceAll(/\s+/g, ' ');
  return (isSplit && items.includes(' ')) || /['"\\]/.test(items) ? [items, ANY_HOLE] : [items];
}

/** What is known of the words in it. */
export function givenWords(input: Input | undefined): string {
  if (input?.kind === 'text') return input.text;
  return input?.kind === 'unknown' ? (input.written ?? '') : '';
}

/** What stands behind each descriptor of a command, by its number. One that is missing was opened before the text. */
export type Inputs = ReadonlyMap<number, Input>;

const UNKNOWN: Input = { kind: 'unknown' };

/** What a command reads, given its redirections. A file is not read. */
export function inputsFrom(redirects: readonly Redirect[], before: Inputs): Inputs {
  const inputs = new Map(before);
  for (const { operator, content, target, fileDescriptor = 0 } of redirects) {
    const word = target === undefined ? '' : wordText(target);
    switch (operator) {
      case '<<':
      case '<<-':
        inputs.set(fileDescriptor, { kind: 'text', text: asConstant(content ?? '') });
        break;
      case '<<<':
        inputs.set(fileDescriptor, { kind: 'text', text: word });
        break;
      case '<':
      case '<>':
        inputs.set(fileDescriptor, inputAt(word, inputs) ?? { kind: 'nothing' });
        break;
      case '<&':
        inputs.set(fileDescriptor, word === '-' ? { kind: 'nothing' } : (inputs.get(numberIn(word)) ?? UNKNOWN));
        break;
    }
  }
  return inputs;
}

/** What is read from a path that names a stream of the command; null for any other path. */
export function inputAt(path: string, inputs: Inputs): Input | null {
  if (path === STREAM_HOLE) return UNKNOWN;
  if (path === '/dev/stdin') return inputs.get(0) ?? UNKNOWN;
  const [, number] = /^\/(?:dev|proc\/(?:self|thread-self))\/fd\/(\d+)$/.exec(path) ?? [];
  if (number !== undefined) return inputs.get(Number(number)) ?? UNKNOWN;
  return /^\/dev\/(?:fd|tcp|udp)\/|^\/proc\/.*\/fd\//s.test(path) ? UNKNOWN : null;
}

/** A word that is no number, such as `3-`, names a descriptor that nothing is known about. */
function numberIn(word: string): number {
  return /^\d+$/.test(word) ? Number(word) : -1;
}

/** What the next command of a pipeline reads. */
export function outputOf(node: unknown): Input {
  const command = simpleCommand(node);
  if (command?.name === undefined) return { kind: 'unknown' };
  const words = command.suffix.map(wordText);
  switch (baseName(nameText(command.name))) {
    case 'echo':
      return textOr(echoed(command.suffix.map((word) => filledText(word) ?? wordText(word))), words);
    case 'printf':
      return textOr(formatted(words), words);
    case 'cat': {
      const input = inputsFrom(command.redirects, new Map()).get(0);
      return words.length === 0 && input?.kind === 'text' ? input : UNKNOWN;
    }
    default:
      return { kind: 'unknown' };
  }
}

function textOr(text: string | null, words: readonly string[]): Input {
  return text === null ? { kind: 'unknown', written: words.join(' ') } : { kind: 'text', text };
}

/** What `printf` prints. Its other escapes, and what its arguments become, are not worked out. */
function formatted([format = '', ...rest]: readonly string[]): string | null {
  const text = format.replaceAll('\\n', '\n').replaceAll('%%', '');
  return rest.length > 0 || /[\\%]/.test(text) ? null : format.replaceAll('\\n', '\n').replaceAll('%%', '%');
}

export function simpleCommand(node: unknown): Command | undefined {
  const inner = isTyped(node, 'Statement') ? (node as Statement).command : node;
  return isTyped(inner, 'Command') ? (inner as Command) : undefined;
}

export function isTyped(node: unknown, type: string): boolean {
  return typeof node === 'object' && node !== null && 'type' in node && node.type === type;
}
