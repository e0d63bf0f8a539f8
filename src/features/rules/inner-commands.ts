import {
  type ArithmeticCommand,
  type ArithmeticExpansionPart,
  type Command,
  type Coproc,
  type ParsedScript,
  type Pipeline,
  parse,
  type Statement,
} from 'unbash';
import { commandsIn, type Hints, hintsOf, hintsOfValues } from './hints.ts';
import { givenBy, type Input, inputFrom, isTyped, outputOf, simpleCommand } from './inputs.ts';
import { ANY_HOLE, asSource, hasHole, OUTPUT_HOLE, STREAM_HOLE, WORD_HOLE } from './pattern.ts';
import { nameText, wordText } from './words.ts';
import { baseName, findWords, SHELLS, shellSource, WRAPPERS, wrappedWords, xargsWords } from './wrappers.ts';

/** A command that runs as a part of a text. */
export interface InnerCommand {
  /** Its words without quotes, with holes for what only the shell knows. */
  readonly words: readonly string[];
  /** The words as they stand in the text; '' if they do not stand there. */
  readonly written: string;
  /**
   * `words`: it stands in the text itself. `wrapper`: another command in the text runs it. `text`: it comes from a text that a
   * shell reads while it runs, or from a program that the client does not know to run others.
   */
  readonly via: 'words' | 'wrapper' | 'text';
  /** What it may run itself. Missing: nothing more. */
  readonly hints?: Hints;
}

interface Place {
  readonly via: InnerCommand['via'];
  readonly input: Input;
  /** Texts within texts. */
  readonly depth: number;
}

const DEPTH_MAX = 12;
const COMMANDS_MAX = 20_000;

/**
 * Every command that the text may run, whatever else decides that it does. What cannot be read is a command without known
 * words. Throws RangeError for a text that is nested too deeply.
 */
export function innerCommands(text: string, input: Input): readonly InnerCommand[] {
  const walk = new Walk();
  walk.text(text, { via: 'words', input, depth: 0 });
  return walk.commands;
}

/** What the parser makes of a node only when it is read. */
const LAZY = ['parts', 'indexParts', 'expression', 'initialize', 'test', 'update'] as const;

class Walk {
  readonly commands: InnerCommand[] = [];
  /** True if a part was not read because texts are nested too deeply. */
  isTooDeep = false;
  /** True while the expansions in words are left out, because another walk has them. */
  #isShallow = false;
  /** What the script that is walked was parsed from. */
  #source = '';
  /** What aliases of the text stand for. */
  readonly #aliases = new Map<string, string>();

  text(text: string, place: Place): void {
    if (place.depth > DEPTH_MAX) {
      this.isTooDeep = true;
      this.#unreadable(text, place);
      return;
    }
    const outer = this.#source;
    this.#source = text;
    this.#visit(parse(text), place);
    this.#source = outer;
  }

  #unreadable(written: string, { via }: Place): void {
    this.commands.push({ words: [ANY_HOLE], written, via });
  }

  /** Finds scripts and commands in whatever the parser has nested. */
  #visit(node: unknown, place: Place): void {
    if (Array.isArray(node)) {
      for (const one of node) this.#visit(one, place);
      return;
    }
    if (typeof node !== 'object' || node === null) return;
    if (this.#isShallow && 'parts' in node) return;
    if (this.commands.length > COMMANDS_MAX) throw new RangeError(`the text has more than ${COMMANDS_MAX} commands`);
    switch ('type' in node ? node.type : '') {
      case 'Script':
        this.#script(node as ParsedScript, place);
        return;
      case 'Statement':
        this.#statement(node as Statement, place);
        return;
      case 'Pipeline':
        this.#pipeline((node as Pipeline).commands, place);
        return;
      case 'Command':
        this.#command(node as Command, place);
        return;
      case 'Coproc':
        this.#children(node, place);
        this.#coproc(node as Coproc, place);
        return;
      case 'ArithmeticCommand':
        if (!this.#isShallow) this.#children(node, place);
        this.#subshells((node as ArithmeticCommand).body, place);
        return;
      case 'ArithmeticExpansion':
        this.#children(node, place);
        this.#subshells((node as ArithmeticExpansionPart).text.replace(/^\$\(\(/, ''), place);
        return;
      case 'TestUnary':
      case 'TestBinary':
        this.#tested(node, place);
        this.#children(node, place);
        return;
      default:
        this.#children(node, place);
        return;
    }
  }

  /** Bash evaluates the index of an array that a test names. */
  #tested(node: object, { via }: Place): void {
    const words = Object.values(node).filter((word) => typeof word === 'object' && word !== null && 'value' in word);
    const texts = words.flatMap(({ value }) => (/\$\(|`/.test(value) ? commandsIn(value) : []));
    if (texts.length > 0) this.commands.push({ words: [], written: '', via, hints: { tails: [], texts } });
  }

  #children(node: object, place: Place): void {
    for (const child of Object.values(node)) this.#visit(child, place);
    for (const key of LAZY)
      if (key in node && !Object.prototype.propertyIsEnumerable.call(node, key))
        this.#visit(Reflect.get(node, key), place);
    if ('inner' in node && typeof node.inner === 'string' && 'script' in node && node.script === undefined)
      this.text(node.inner, { ...place, depth: place.depth + 1 });
  }

  #script(script: ParsedScript, place: Place): void {
    const outer = this.#source;
    this.#source = script.source ?? outer;
    if ((script.errors ?? []).length > 0) this.#unreadable(this.#source.slice(script.pos, script.end), place);
    for (const statement of script.commands) this.#visit(statement, place);
    this.#source = outer;
  }

  #statement(statement: Statement, place: Place): void {
    const { command, redirects } = statement;
    this.#visit(redirects, place);
    this.#visit(command, { ...place, input: inputFrom(redirects, place.input) });
  }

  /** The parser takes the first word for a name, which the shell does only before a group. */
  #coproc({ name, body, pos, end }: Coproc, place: Place): void {
    const first = isTyped(body, 'Pipeline') ? (body as Pipeline).commands[0] : body;
    const command = simpleCommand(first);
    if (name === undefined || command?.name === undefined) return;
    const words = [nameText(name), ...[command.name, ...command.suffix].map(wordText)];
    this.#run(words, this.#source.slice(pos, end), place);
  }

  /** What one shell takes for arithmetic is a command in two subshells for another: dash runs `((…))`. */
  #subshells(body: string, place: Place): void {
    const inner = new Walk();
    inner.#isShallow = true;
    inner.text(body, { ...place, via: 'text', depth: place.depth + 1 });
    this.commands.push(...inner.commands.filter(({ words: [name = ''] }) => !hasHole(name)));
    if (inner.isTooDeep) this.#unreadable(body, place);
    this.isTooDeep ||= inner.isTooDeep;
  }

  #pipeline(parts: readonly unknown[], place: Place): void {
    for (const [index, part] of parts.entries()) {
      this.#visit(part, index === 0 ? place : { ...place, input: outputOf(parts[index - 1]) });
    }
  }

  #command(command: Command, place: Place): void {
    if (!this.#isShallow) this.#children(command, place);
    const { name, suffix, redirects, prefix, pos, end } = command;
    this.#assigned(prefix, name !== undefined, place);
    if (name === undefined) return;
    const words = [nameText(name), ...suffix.map(wordText)];
    const written = this.#source.slice(command.prefix.at(0)?.pos ?? pos, end);
    this.#run(words, written, { ...place, input: inputFrom(redirects, place.input) });
  }

  /** A shell and other programs run what some variables hold. */
  #assigned(prefix: Command['prefix'], isForCommand: boolean, { via }: Place): void {
    const values = prefix.flatMap(({ value, array = [] }) => (value === undefined ? array : [value, ...array]));
    const hints = hintsOfValues(values.map(wordText), isForCommand);
    if (hints.texts.length > 0) this.commands.push({ words: [], written: '', via, hints });
  }

  /** A command, and the commands that it runs. */
  #run(words: readonly string[], written: string, place: Place): void {
    const [first] = words;
    if (first === undefined || first === '') return;
    // The output of a program as a command is like a script in a file.
    if (first === OUTPUT_HOLE && words.length === 1) return;
    const input = place.input.kind === 'text' ? place.input.text : '';
    this.commands.push({ words, written, via: place.via, hints: hintsOf(words, input) });
    const alias = this.#aliases.get(first);
    if (alias !== undefined) {
      this.#aliases.delete(first);
      this.#inner([alias, ...words.slice(1)].join(' '), place);
      this.#aliases.set(first, alias);
    }
    const name = baseName(first);
    if (hasHole(name)) return;
    if (SHELLS.has(name)) {
      this.#shell(words, written, place);
      return;
    }
    switch (name) {
      case 'eval':
        this.#inner(words.slice(words[1] === '--' ? 2 : 1).join(' '), place);
        return;
      case 'trap':
        this.#inner(words[1]?.startsWith('-') === true ? '' : (words[1] ?? ''), place);
        return;
      case 'alias':
        for (const word of words.slice(1)) {
          const [, alias = '', value = ''] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
          if (value !== '') this.#aliases.set(alias, value);
          this.#inner(value, place);
        }
        return;
      case 'source':
      case '.':
        if (words[1] === STREAM_HOLE || words[1] === '/dev/stdin') this.#unreadable(written, { ...place, via: 'text' });
        return;
      case 'find':
        for (const inner of findWords(words, WORD_HOLE)) this.#run(inner, '', { ...place, via: 'text' });
        return;
      case 'xargs':
        this.#xargs(words, place);
        return;
      case 'su':
      case 'runuser':
      case 'script':
        this.#inner(afterWord(words, '-c') ?? '', place);
        return;
      case 'watch':
        this.#inner(wrappedWords({ valued: ['-n', '--interval'] }, words).join(' '), place);
        return;
    }
    const split = name === 'env' ? (afterWord(words, '-S') ?? afterWord(words, '--split-string')) : undefined;
    if (split !== undefined) {
      this.#inner(split, place);
      return;
    }
    const flocked = name === 'flock' ? afterWord(words, '-c') : undefined;
    if (flocked !== undefined) {
      this.#inner(flocked, place);
      return;
    }
    const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
    if (wrapper === undefined) return;
    this.#run(wrappedWords(wrapper, words), '', { ...place, via: place.via === 'text' ? 'text' : 'wrapper' });
  }

  #shell(words: readonly string[], written: string, place: Place): void {
    const source = shellSource(words);
    if (source.from === 'text') {
      this.#inner(source.text, place);
      return;
    }
    // A script in a file is not read.
    const isStream = source.from === 'file' && (source.path === STREAM_HOLE || source.path === '/dev/stdin');
    if (source.from === 'file' && !isStream) return;
    if (source.from === 'input' && place.input.kind === 'nothing') return;
    if (place.input.kind === 'text' && !(source.from === 'file' && source.path === STREAM_HOLE)) {
      this.#inner(place.input.text.replaceAll(OUTPUT_HOLE, ANY_HOLE), place);
      return;
    }
    this.#unreadable(written, { ...place, via: 'text' });
  }

  #xargs(words: readonly string[], place: Place): void {
    for (const given of givenBy(place.input)) {
      const inner = xargsWords(words, given);
      const via = place.via === 'text' || !inner.isBare ? 'text' : 'wrapper';
      this.#run(inner.words, '', { ...place, via, input: { kind: 'nothing' } });
    }
  }

  #inner(text: string, place: Place): void {
    const outer = this.#isShallow;
    this.#isShallow = false;
    if (text !== '') this.text(asSource(text), { ...place, via: 'text', depth: place.depth + 1 });
    this.#isShallow = outer;
  }
}

function afterWord(words: readonly string[], option: string): string | undefined {
  const at = words.indexOf(option, 1);
  return at === -1 ? undefined : words[at + 1];
}
