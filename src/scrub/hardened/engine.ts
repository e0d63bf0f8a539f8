import { KeywordIndex } from '../exact/keyword-index.ts';
import { Rule } from '../exact/rule.ts';
import { parseRuleFile, type RuleConfig } from '../exact/rule-config.ts';
import type { RuleFile } from '../exact/rule-pack.ts';
import type { Finding } from '../finding.ts';
import { isCovered, maskView, mergeFindings } from '../spans.ts';

/** Finds secrets by pattern. Pure and synchronous; knows no secret of any session. */
export interface ScrubEngine {
  /** All that must not leave, in order of place, without overlap. Time is linear in the text. */
  scan(text: string): Finding[];
  readonly ruleCount: number;
}

export interface EngineOptions {
  /**
   * `now` (default): every pattern is compiled, a bad one is SCHEMA_INVALID naming file and rule. `when used`: at the
   * first text that holds a keyword of the rule; for rules that another engine of the program has already compiled.
   */
  compile?: 'now' | 'when used';
}

/** Each file is a gitleaks configuration; its global allowlists hold for its own rules only. */
export function createEngine(files: readonly RuleFile[], options: EngineOptions = {}): ScrubEngine {
  const engine = new Engine(files.flatMap(parseRuleFile));
  if (options.compile !== 'when used') engine.compileAll();
  return engine;
}

/** An engine that is not even read before its first use. */
export function deferEngine(build: () => ScrubEngine): ScrubEngine {
  let built: ScrubEngine | undefined;
  const engine = (): ScrubEngine => {
    built ??= build();
    return built;
  };
  return {
    scan: (text) => engine().scan(text),
    get ruleCount() {
      return engine().ruleCount;
    },
  };
}

/** Masking a secret may uncover another that shared a separator with it, so the text is scanned again, so often. */
const MAX_PASSES = 4;

class Engine implements ScrubEngine {
  readonly #configs: readonly RuleConfig[];
  readonly #rules: (Rule | undefined)[];
  readonly #keywords: KeywordIndex;
  /** The position in #configs of the rule that a keyword of the index belongs to. */
  readonly #ruleOfKeyword: number[] = [];
  readonly #always: readonly number[];

  constructor(configs: readonly RuleConfig[]) {
    this.#configs = configs;
    this.#rules = configs.map(() => undefined);
    const keywords: string[] = [];
    for (const [position, config] of configs.entries())
      for (const keyword of config.keywords) this.#ruleOfKeyword[keywords.push(keyword) - 1] = position;
    this.#keywords = new KeywordIndex(keywords);
    this.#always = [...configs.keys()].filter((position) => configs[position]?.keywords.length === 0);
  }

  get ruleCount(): number {
    return this.#configs.length;
  }

  compileAll(): void {
    for (const position of this.#configs.keys()) this.#ruleAt(position);
  }

  scan(text: string): Finding[] {
    let known = mergeFindings(this.#scanOnce(text));
    for (let pass = 1; pass < MAX_PASSES && known.length > 0; pass++) {
      const view = maskView(text, known);
      const found = this.#scanOnce(view.text).map(view.toOriginal);
      const fresh = found.filter((finding) => !isCovered(finding, known));
      if (fresh.length === 0) break;
      known = mergeFindings([...known, ...fresh]);
    }
    return known;
  }

  /** A last line without its end would be no line to a rule: it gets one. */
  #scanOnce(text: string): Finding[] {
    if (text === '') return [];
    const lines = text.endsWith('\n') ? text : `${text}\n`;
    const due = new Set(this.#always);
    for (const keyword of this.#keywords.find(lines)) due.add(this.#ruleOfKeyword[keyword] ?? 0);
    const found: Finding[] = [];
    for (const position of due)
      for (const finding of this.#ruleAt(position)?.find(lines) ?? [])
        if (finding.start < text.length) found.push({ ...finding, end: Math.min(finding.end, text.length) });
    return found;
  }

  #ruleAt(position: number): Rule | undefined {
    const config = this.#configs[position];
    if (this.#rules[position] === undefined && config !== undefined) this.#rules[position] = new Rule(config);
    return this.#rules[position];
  }
}
