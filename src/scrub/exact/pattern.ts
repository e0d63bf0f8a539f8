import type { Span } from '../../text/offset-map.ts';
import { type Certificate, certificateOf } from './certified-patterns.ts';
import { parseGo } from './go-syntax.ts';
import { groupCountOf } from './go-tree.ts';
import { type Engine, LinearEngine } from './linear-engine.ts';
import { NativeEngine } from './native-engine.ts';
import { ShortLineEngine } from './short-line-engine.ts';
import { ruleFault } from './toml-table.ts';

/**
 * A pattern with Go's syntax and meaning. Certified patterns run as JavaScript regular expressions, compiled on first
 * use; all others run in re2js, whose time is linear in the text whatever the pattern.
 */
export class Pattern {
  readonly #source: string;
  readonly #certificate: Certificate | undefined;
  #fast: Engine | undefined;
  #linear: LinearEngine | undefined;
  #groupCount: number | undefined;

  /** SCHEMA_INVALID, naming `where`, for a pattern that Go would refuse. */
  constructor(source: string, where: string) {
    this.#source = source;
    this.#certificate = certificateOf(source);
    // Compiled lazily: a certified pattern is known to compile.
    if (this.#certificate !== undefined) return;
    try {
      this.#linear = new LinearEngine(source);
    } catch (cause) {
      throw ruleFault(where, `the pattern is refused: ${cause instanceof Error ? cause.message : source}`, cause);
    }
  }

  get groupCount(): number {
    this.#groupCount ??= groupCountOf(parseGo(this.#source));
    return this.#groupCount;
  }

  test(text: string): boolean {
    return this.#run((engine) => engine.test(text));
  }

  /** All matches, leftmost first, without overlap. `parts`: where to look, as `Engine.findAll` has it. */
  findAll(text: string, parts?: readonly Span[]): Span[] {
    return this.#run((engine) => engine.findAll(text, parts));
  }

  /** The groups of the first match, by number from 1; undefined where a group took no part. Empty without a match. */
  groups(text: string): (Span | undefined)[] {
    return this.#run((engine) => (engine.hasGroups ? engine : this.#slow()).groups(text));
  }

  #run<Result>(ask: (engine: Engine) => Result): Result {
    this.#fast ??= this.#makeFast();
    if (this.#fast === undefined) return ask(this.#slow());
    try {
      return ask(this.#fast);
    } catch (thrown) {
      // V8's stack for backtracking is full. The other engine needs no such stack.
      if (thrown instanceof RangeError) return ask(this.#slow());
      throw thrown;
    }
  }

  #makeFast(): Engine | undefined {
    if (this.#certificate === undefined || this.#certificate === 'refused') return undefined;
    const tree = parseGo(this.#source);
    return this.#certificate === 'all' ? new NativeEngine(tree) : new ShortLineEngine(tree, () => this.#slow());
  }

  #slow(): LinearEngine {
    this.#linear ??= new LinearEngine(this.#source);
    return this.#linear;
  }
}
