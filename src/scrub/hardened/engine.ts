import { Edits } from '../../text/view.ts';
import type { GitleaksConfig } from '../exact/config.ts';
import { loadConfig, loadPackFile } from '../exact/load-config.ts';
import type { RuleFile } from '../exact/rule-pack.ts';
import { RuleSet } from '../exact/rule-set.ts';
import { ruleFault } from '../exact/toml-table.ts';
import type { Finding } from '../finding.ts';
import { isCovered, type MaskedView, maskView, mergeFindings } from '../spans.ts';
import { applyAllowances } from '../workspace-allowances.ts';
import type { Allowances } from '../workspace-rules.ts';
import { findKeyBodies } from './key-bodies.ts';
import { Marks } from './marks.ts';
import { type Reading, readingsOf } from './view-search.ts';

/** Finds secrets by pattern, in whatever form they are shown. Pure and synchronous; knows no secret of any session. */
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
  /** gitleaks' own configuration. Default null: this machine has none. */
  official?: RuleFile | null;
  /** Further configurations as gitleaks reads them; they may extend the official one and no file. Default none. */
  added?: readonly RuleFile[];
  /** What a person approved for a project. Default null: nothing. */
  allowances?: Allowances | null;
}

/** `pack`: files of our own rules. The global allowlists of each file hold for its own rules only. */
export function createEngine(pack: readonly RuleFile[], options: EngineOptions = {}): ScrubEngine {
  const { official = null, added = [], allowances = null } = options;
  const deps = { readFile: refuseFile, official: official?.text ?? null };
  const foreign = official === null ? added : [official, ...added];
  const configs = [...pack.map(loadPackFile), ...foreign.map((file) => loadConfig(file, deps))];
  return new Engine(applyAllowances(configs, allowances), options);
}

function refuseFile(path: string): string {
  throw ruleFault(path, 'other files are not read');
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
/** Characters around a masked place that are scanned again: nothing else has changed. */
const AGAIN_CHARS = 1024;
/** More than that around masked places is read as it is and in no other way: the text is made of findings. */
const MAX_AGAIN_CHARS = 65_536;
/** Layers of encoding that are looked into. */
const MAX_DECODE_DEPTH = 8;

class Engine implements ScrubEngine {
  readonly #rules: RuleSet;
  readonly #marks: Marks;

  constructor(configs: readonly GitleaksConfig[], { compile = 'now' }: EngineOptions) {
    this.#rules = new RuleSet(configs, { compile });
    this.#marks = new Marks(configs);
  }

  get ruleCount(): number {
    return this.#rules.ruleCount;
  }

  scan(text: string): Finding[] {
    let known = mergeFindings(this.#scanOnce(text));
    for (let pass = 1; pass < MAX_PASSES && known.length > 0; pass++) {
      const fresh = this.#scanAround(maskView(text, known)).filter((finding) => !isCovered(finding, known));
      if (fresh.length === 0) break;
      known = mergeFindings([...known, ...fresh]);
    }
    return known;
  }

  /** The findings near what is masked, in offsets of the original. */
  #scanAround(masked: MaskedView): Finding[] {
    const edits = new Edits(masked.text, AGAIN_CHARS);
    for (const { start, end } of masked.placeholders) edits.replace(start, end, masked.text.slice(start, end));
    const view = edits.view();
    if (view === null) return [];
    const found = view.text.length > MAX_AGAIN_CHARS ? this.#find(view.text) : this.#scanOnce(view.text);
    return found.flatMap(({ rule, start, end }) => {
      const place = view.toOriginal(start, end);
      return place === null ? [] : [masked.toOriginal({ rule, ...place })];
    });
  }

  #scanOnce(text: string): Finding[] {
    const found = this.#find(text);
    for (const reading of readingsOf(text)) for (const finding of this.#findIn(reading)) found.push(finding);
    return found;
  }

  #find(text: string): Finding[] {
    const found = [...this.#rules.find(text, { maxDecodeDepth: MAX_DECODE_DEPTH }), ...findKeyBodies(text)];
    return found.filter((finding) => !isToken(text, finding));
  }

  #findIn({ view, kinds }: Reading): Finding[] {
    const needsMark = kinds.some((kind) => kind.needsMark);
    return this.#find(view.text).flatMap(({ rule, start, end }) => {
      if (needsMark && !this.#marks.isMarked(rule, view.text.slice(start, end))) return [];
      const place = view.toOriginal(start, end);
      return place === null ? [] : [{ rule, ...place }];
    });
  }
}

/** Something that stands for a secret already, with the signs around it. */
const TOKEN = /^[^A-Za-z0-9]*\[SECRET(?:\\*_[0-9]+)?\\*\][^A-Za-z0-9]*$/;
const MAX_TOKEN_CHARS = 64;

/** Scrubbed text is not scrubbed again, whatever stands around the tokens. */
function isToken(text: string, { start, end }: Finding): boolean {
  return end - start <= MAX_TOKEN_CHARS && TOKEN.test(text.slice(Math.max(0, start - 1), end + 1));
}
