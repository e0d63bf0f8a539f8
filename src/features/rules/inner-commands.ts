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
import { Aliases } from './aliases.ts';
import { isEvaluated, isSetByName, maySetByText, promptCommandIn, setsEvaluated } from './evaluated.ts';
import { afterWord, givenText, guessedText } from './given-texts.ts';
import { hintsOf, hintsOfValues, textsInWordsOf } from './hints.ts';
import type { InnerCommand } from './inner-command.ts';
import {
  givenBy,
  givenWords,
  type Input,
  type Inputs,
  inputAt,
  inputsFrom,
  isTyped,
  outputOf,
  simpleCommand,
} from './inputs.ts';
import { ANY_HOLE, asSource, hasHole, OUTPUT_HOLE, WORD_HOLE } from './pattern.ts';
import { namedText, textsRunBy } from './quiet.ts';
import { childrenOf, unopenedText } from './unopened.ts';
import { asDocument, endsByQuotes, isPosix, unquotedTexts } from './unquoted.ts';
import { filledText, nameText, wordText } from './words.ts';
import { baseName, findWords, SHELLS, shellSource, WRAPPERS, wrappedWords, xargsList, xargsWords } from './wrappers.ts';

interface Place {
  readonly via: InnerCommand['via'];
  readonly inputs: Inputs;
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
  walk.text(text, { via: 'words', inputs: new Map([[0, input]]), depth: 0 });
  return walk.commands;
}

const UNKNOWN_INPUT: Input = { kind: 'unknown' };
const UNKNOWN: Inputs = new Map([[0, UNKNOWN_INPUT]]);
const NOTHING: Inputs = new Map([[0, { kind: 'nothing' }]]);

class Walk {
  readonly commands: InnerCommand[] = [];
  /** True if a part was not read because texts are nested too deeply. */
  isTooDeep = false;
  /** True while the expansions in words are left out, because another walk has them. */
  #isShallow = false;
  /** What the script that is walked was parsed from. */
  #source = '';
  readonly #aliases = new Aliases();
  /** True once `exec` has given the shell another input. */
  #isRedirected = false;
  /** True once a shell may have read text as POSIX says. */
  #isPosix = false;

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
    const unopened = unopenedText(node);
    if (unopened !== undefined) {
      if (unopened.isSource) this.text(unopened.text, { ...place, depth: place.depth + 1 });
      else this.#unreadable(unopened.text, place);
      return;
    }
    if (this.commands.length > COMMANDS_MAX) throw new RangeError(`the text has more than ${COMMANDS_MAX} commands`);
    if (setsEvaluated(node)) this.#unreadable('text' in node ? String(node.text) : '', { ...place, via: 'text' });
    if (!this.#isShallow) for (const text of unquotedTexts(node)) this.#guess(asDocument(text), place);
    if (this.#isPosix && endsByQuotes(node)) this.#unreadable('', { ...place, via: 'text' });
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
        this.#children(node, { ...place, inputs: UNKNOWN });
        this.#coproc(node as Coproc, { ...place, inputs: UNKNOWN });
        return;
      case 'Function':
        // It reads what its caller reads.
        this.#children(node, { ...place, inputs: UNKNOWN });
        return;
      case 'ProcessSubstitution':
        this.#children(node, 'operator' in node && node.operator === '>' ? { ...place, inputs: UNKNOWN } : place);
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
      case 'For':
      case 'Select':
        this.#tested(node, place);
        this.#children(node, place);
        return;
      default:
        this.#children(node, place);
        return;
    }
  }

  /** Bash evaluates the index of an array that a test names, or that a word of a loop becomes. */
  #tested(node: object, { via }: Place): void {
    const texts = textsInWordsOf(node);
    if (texts.length > 0) this.commands.push({ words: [], written: '', via, hints: { tails: [], texts } });
  }

  #children(node: object, place: Place): void {
    for (const child of childrenOf(node)) this.#visit(child, place);
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
    this.#visit(command, { ...place, inputs: inputsFrom(redirects, place.inputs) });
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
      const inputs = index === 0 ? place.inputs : new Map([...place.inputs, [0, outputOf(parts[index - 1])] as const]);
      this.#visit(part, { ...place, inputs });
    }
  }

  #command(command: Command, place: Place): void {
    if (!this.#isShallow) this.#children(command, place);
    const { name, suffix, redirects, prefix, pos, end } = command;
    this.#assigned(prefix, name !== undefined, place);
    if (name === undefined) return;
    const words = [nameText(name), ...suffix.map(wordText)];
    const written = this.#source.slice(command.prefix.at(0)?.pos ?? pos, end);
    if (words.length === 1 && words[0] === 'exec' && redirects.length > 0) this.#isRedirected = true;
    const inner = { ...place, inputs: inputsFrom(redirects, place.inputs) };
    this.#run(words, written, inner);
    // The names of files that a pattern becomes may be any words of a rule.
    const filled = [nameText(name), ...suffix.map((word) => filledText(word) ?? wordText(word))];
    if (filled.join(' ') !== words.join(' ')) this.#run(filled, '', { ...inner, via: 'text' });
  }

  /** A shell and other programs run what some variables hold. */
  #assigned(prefix: Command['prefix'], isForCommand: boolean, place: Place): void {
    for (const { text, name, value } of prefix) {
      const assigned = value === undefined || name === undefined ? text : `${name}=${wordText(value)}`;
      this.#isPosix ||= isPosix(assigned);
      if (isEvaluated(assigned)) this.#unreadable(text, place);
      for (const run of [promptCommandIn(assigned), ...namedText(assigned)]) this.#guess(run, place);
    }
    const values = prefix.flatMap(({ value, array = [] }) => (value === undefined ? array : [value, ...array]));
    const hints = hintsOfValues(values.map(wordText), isForCommand);
    if (hints.texts.length > 0) this.commands.push({ words: [], written: '', via: place.via, hints });
  }

  /** A command, and the commands that it runs. */
  #run(words: readonly string[], written: string, place: Place): void {
    const [first] = words;
    if (first === undefined || first === '') return;
    this.#isPosix ||= words.some(isPosix);
    const input = place.inputs.get(0);
    if (first === OUTPUT_HOLE && words.length === 1) {
      this.commands.push({ words: [], written: '', via: 'text', hints: hintsOf(words, givenWords(input)) });
      return;
    }
    this.commands.push({ words, written, via: place.via, hints: hintsOf(words, givenWords(input)) });
    if (words.some(isEvaluated) || isSetByName(words, givenWords(input)))
      this.#unreadable(written, { ...place, via: 'text' });
    this.#aliases.expand(words, (text) => this.#inner(text, place));
    const name = baseName(first);
    if (hasHole(name)) return;
    if (SHELLS.has(name)) {
      this.#shell(words, written, place);
      return;
    }
    for (const text of [guessedText(name, words) ?? '', ...textsRunBy(words)]) this.#guess(text, place);
    const given = givenText(name, words);
    if (given !== undefined) {
      this.#inner(given, place);
      return;
    }
    switch (name) {
      case 'alias':
        for (const word of words.slice(1)) {
          const [, alias = '', value = ''] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
          if (hasHole(alias)) this.#unreadable(written, { ...place, via: 'text' });
          if (value !== '') this.#aliases.set(alias, value);
          this.#inner(value, place);
        }
        return;
      case 'jobs':
        if (words[1] === '-x') this.#run(words.slice(2), '', { ...place, via: 'text' });
        return;
      case 'hash':
        this.#hash(words, written, place);
        return;
      case 'source':
      case '.':
        this.#scriptAt(words[words[1] === '--' ? 2 : 1] ?? '', written, place);
        return;
      case 'find':
        for (const inner of findWords(words, WORD_HOLE)) this.#run(inner, '', { ...place, via: 'text' });
        return;
      case 'xargs':
        this.#xargs(words, place);
        return;
    }
    const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
    if (wrapper === undefined) {
      if (maySetByText(words, givenWords(input))) this.#unreadable(written, { ...place, via: 'text' });
    } else this.#run(wrappedWords(wrapper, words), '', { ...place, via: place.via === 'text' ? 'text' : 'wrapper' });
  }

  #shell(words: readonly string[], written: string, place: Place): void {
    const source = shellSource(words);
    if (source.from === 'text') {
      this.#inner(source.text, place);
      return;
    }
    if (source.from === 'file') this.#scriptAt(source.path, written, place);
    else this.#read(place.inputs.get(0) ?? UNKNOWN_INPUT, written, place);
    for (const word of words.slice(1))
      if (
        word !== '/dev/stdin' &&
        inputAt(word, place.inputs) !== null &&
        !(source.from === 'file' && word === source.path)
      )
        this.#unreadable(written, { ...place, via: 'text' });
  }

  /** A script that a shell reads from a path. One in a file is not read. */
  #scriptAt(path: string, written: string, place: Place): void {
    const input = inputAt(path, place.inputs);
    if (input !== null) this.#read(input, written, place);
  }

  /** A script that a shell reads from a stream. */
  #read(input: Input, written: string, place: Place): void {
    if (input.kind === 'text') this.#inner(input.text.replaceAll(OUTPUT_HOLE, ANY_HOLE), place);
    else if (input.kind === 'unknown' || this.#isRedirected) this.#unreadable(written, { ...place, via: 'text' });
  }

  /** A name that stands for a program from then on: `hash -p PATH NAME`. */
  #hash(words: readonly string[], written: string, place: Place): void {
    const path = afterWord(words, '-p');
    if (path === undefined) return;
    if (words.some(hasHole)) this.#unreadable(written, { ...place, via: 'text' });
    for (const name of words.slice(words.indexOf('-p') + 2)) this.#aliases.set(name, path);
  }

  #xargs(words: readonly string[], place: Place): void {
    const { isUnread, isSplit } = xargsList(words);
    const input = isUnread || this.#isRedirected ? UNKNOWN_INPUT : (place.inputs.get(0) ?? UNKNOWN_INPUT);
    for (const given of givenBy(input, isSplit)) {
      const inner = xargsWords(words, given);
      const via = place.via === 'text' || !inner.isBare ? 'text' : 'wrapper';
      this.#run(inner.words, '', { ...place, via, inputs: NOTHING });
    }
  }

  /** A text of a program that may run it. */
  #guess(text: string, place: Place): void {
    const from = this.commands.length;
    this.#inner(text, place);
    for (const command of this.commands.splice(from)) this.commands.push({ ...command, isGuess: true });
  }

  #inner(text: string, place: Place): void {
    const outer = this.#isShallow;
    this.#isShallow = false;
    if (text !== '') this.text(asSource(text), { ...place, via: 'text', depth: place.depth + 1 });
    this.#isShallow = outer;
  }
}
