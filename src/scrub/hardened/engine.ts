import { Edits } from '../../text/offset-map.ts';
import { isCredential } from '../credential.ts';
import { listedIn } from '../credential-lists.ts';
import type { GitleaksConfig } from '../exact/config.ts';
import { readConfigFile } from '../exact/config-file.ts';
import { loadConfig, loadPackFile } from '../exact/load-config.ts';
import type { RuleFile } from '../exact/rule-pack.ts';
import { RuleSet } from '../exact/rule-set.ts';
import { ruleFault } from '../exact/toml-table.ts';
import type { Finding } from '../finding.ts';
import { isCovered, type MaskedView, maskView, mergeFindings } from '../spans.ts';
import type { Allowances } from '../workspace-rules.ts';
import { findColumns } from './columns.ts';
import { withoutCommonWords } from './common-words.ts';
import { isExample } from './judge.ts';
import { Judgements } from './judgements.ts';
import { findKeyBodies, judgeKey } from './key-bodies.ts';
import { isIdentifier } from './look-alikes.ts';
import { isInWord, Marks } from './marks.ts';
import { findObjectSecrets } from './object-secrets.ts';
import { type Reading, readingsOf } from './readings.ts';
import { RulePaths } from './rule-paths.ts';
import { withTokenEnd } from './token-ends.ts';
import { findWalletKeys } from './wallet-keys.ts';
import { WholeValues } from './whole-values.ts';

/** Finds secrets by pattern, in plain or encoded form. Pure and synchronous; knows no session's secrets. */
export interface ScrubEngine {
  /** Returns everything to mask, in order, without overlaps. Linear time. */
  scan(text: string): Finding[];
  readonly ruleCount: number;
}

export interface EngineOptions {
  /**
   * `now` (default): compiles every pattern; an invalid one is SCHEMA_INVALID with file and rule. `when used`: compiles
   * a rule at the first text with one of its keywords, for rules that another engine of the program has already
   * compiled.
   */
  compile?: 'now' | 'when used';
  /** gitleaks' own configuration. Default null: only our own rules. */
  official?: RuleFile | null;
  /** Further gitleaks configurations. They may extend the official one, but no file. Default: none. */
  added?: readonly RuleFile[];
  /** Allowances that a person approved for a project. Default: null. */
  allowances?: Allowances | null;
}

/** `pack`: files of our own rules. The global allowlists of a file apply only to its own rules. */
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

/** Defers building an engine until its first use. */
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

/** Maximum number of scans: masking a secret may uncover another one that shared a separator with it. */
const MAX_PASSES = 4;
/** Characters rescanned around a masked place: everything else is unchanged. */
const AGAIN_CHARS = 1024;
/** If more characters than this surround masked places, encodings are not rescanned: the text consists of findings. */
const MAX_AGAIN_CHARS = 65_536;
/** Maximum number of nested encodings to decode. */
const MAX_DECODE_DEPTH = 8;

class Engine implements ScrubEngine {
  readonly #rules: RuleSet;
  readonly #marks: Marks;
  readonly #paths: RulePaths;
  /** Ids of rules that people wrote for a project. Their findings are masked without further judgement. */
  readonly #added: ReadonlySet<string>;

  constructor(configs: readonly GitleaksConfig[], { compile = 'now', added = [] }: EngineOptions) {
    const names = new Set(added.map(({ name }) => name));
    this.#rules = new RuleSet(configs, { compile, rewrite: withTokenEnd });
    this.#marks = new Marks(configs);
    this.#paths = new RulePaths(configs);
    this.#added = new Set(
      configs.filter(({ name }) => names.has(name)).flatMap(({ rules }) => rules.map(({ id }) => id)),
    );
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
    return withoutCommonWords(text, known).flatMap((finding) => oneByOne(text, finding));
  }

  /** Findings around masked places, in offsets of the original. */
  #scanAround(masked: MaskedView): Finding[] {
    const edits = new Edits(masked.text, AGAIN_CHARS);
    for (const { start, end } of masked.placeholders) edits.replace(start, end, masked.text.slice(start, end));
    const view = edits.view();
    if (view === null) return [];
    const found = view.text.length > MAX_AGAIN_CHARS ? this.#find(view.text) : this.#scanOnce(view.text);
    return found.flatMap(({ rule, byPlace, start, end }) => {
      const place = view.toOriginal(start, end);
      return place === null ? [] : [masked.toOriginal({ rule, byPlace, ...place })];
    });
  }

  #scanOnce(text: string): Finding[] {
    const found = this.#find(text).filter((finding) => !this.#isInside(text, finding));
    const wholes = new Map<Reading | null, WholeValues>([[null, new WholeValues(text, found)]]);
    const all = [...found];
    const foundIn = new Map([[text, found]]);
    for (const reading of readingsOf(text)) {
      const shown = foundIn.get(reading.view.text) ?? this.#find(reading.view.text);
      foundIn.set(reading.view.text, shown);
      wholes.set(reading, new WholeValues(reading.view.text, shown));
      const isShown = shownIn(reading, shown);
      for (const finding of shown) {
        const place = this.#placeOf(finding, reading, wholes, isShown);
        if (place === null) continue;
        const isInside =
          this.#marks.isInWrapped(text, place) ||
          this.#marks.isInWrapped(reading.view.text, finding) ||
          (this.#isInside(reading.view.text, finding) && isInWord(text, place.start));
        if (!isInside) all.push(place);
      }
    }
    return all;
  }

  /** Whether the mark of a finding is in the middle of a word, or of base64. */
  #isInside(text: string, finding: Finding): boolean {
    return this.#marks.isGlued(text, finding) || this.#marks.isInBase64(text, finding);
  }

  #find(text: string): Finding[] {
    const found: Finding[] = [];
    const about: About = { text, holdsAt: this.#paths.in(text), judgements: new Judgements(text) };
    for (const { isWhole, ...finding } of this.#rules.find(text, { maxDecodeDepth: MAX_DECODE_DEPTH })) {
      const believed = isToken(text, finding) ? null : this.#judge(about, finding, isWhole);
      if (believed !== null && !isToken(text, believed)) found.push({ ...believed, inner: finding.inner });
    }
    const bySyntax = [
      ...findKeyBodies(text),
      ...findColumns(text).map(asPlaced),
      ...findObjectSecrets(text),
      ...findWalletKeys(text),
    ];
    return [...found, ...bySyntax.filter((finding) => !isToken(text, finding))];
  }

  /** A value that its rule identifies on its own is accepted anywhere, unless it is an example. */
  #judge({ text, holdsAt, judgements }: About, finding: Finding, isWhole: boolean): Finding | null {
    const { rule, start, end } = finding;
    if (this.#added.has(rule)) return finding;
    if (!holdsAt(rule, finding)) return null;
    if (text.startsWith('-----BEGIN', start)) return judgeKey(text, finding);
    const value = text.slice(start, end);
    if (isWhole || this.#marks.isMarked(rule, value))
      return isExample(value) || isIdentifier(text, finding) ? null : finding;
    if (NEEDS_RANDOM.has(rule) && !isCredential(value)) return null;
    const judged = this.#marks.namesRule(rule, text, finding) ? judgements.of(finding) : null;
    return judged === null ? null : asPlaced(judged);
  }

  /** Maps a finding in a reading to the text. Null if it is rejected, or not contiguous there. */
  #placeOf(
    finding: Finding,
    reading: Reading,
    wholes: ReadonlyMap<Reading | null, WholeValues>,
    isShown: (whole: Finding) => boolean,
  ): Finding | null {
    const { rule, start, end } = finding;
    const value = reading.view.text.slice(start, end);
    const needsMark = reading.kinds.some(
      (kind) => kind.needsMark || (kind.isDecoded === true && IDEOGRAPH.test(value)),
    );
    if (needsMark && !this.#marks.isMarked(rule, value)) return null;
    const isDecoded = reading.kinds.some(({ layer }) => layer === 'code');
    const inner = finding.inner ?? (isDecoded ? [value] : undefined);
    let place: Finding = finding;
    for (let at: Reading | null = reading; at !== null; at = at.inner) {
      const span = at.view.toOriginal(place.start, place.end);
      if (span === null) return null;
      place = { rule, byPlace: finding.byPlace, ...span, inner };
      const isWhole = at === reading ? isShown : () => false;
      place.end =
        wholes.get(at.inner)?.endOf(place, (id, value) => this.#marks.isMarked(id, value), isWhole) ?? place.end;
    }
    return place;
  }
}

/** A text, and what is known of it while its findings are judged. */
interface About {
  text: string;
  holdsAt: ReturnType<RulePaths['in']>;
  judgements: Judgements;
}

function asPlaced(finding: Finding): Finding {
  return { ...finding, byPlace: true };
}

/** Rules whose names say little, so that the value must be one of a generator. */
const NEEDS_RANDOM: ReadonlySet<string> = new Set(['quoted-key', 'key-in-a-language', 'name-value-key', 'oauth-code']);

const IDEOGRAPH = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Whether a rule found the same place both in the reading and in the text. */
function shownIn({ view }: Reading, shown: readonly Finding[]): (whole: Finding) => boolean {
  let places: Set<string> | undefined;
  return ({ rule, start, end }) => {
    places ??= new Set(
      shown.flatMap((finding) => {
        const span = view.toOriginal(finding.start, finding.end);
        return span === null ? [] : [`${finding.rule} ${span.start} ${span.end}`];
      }),
    );
    return places.has(`${rule} ${start} ${end}`);
  };
}

/** Splits a list of credentials into single findings. */
function oneByOne(text: string, finding: Finding): Finding[] {
  const { start, inner } = finding;
  const parts = inner === undefined ? listedIn(text.slice(start, finding.end)) : null;
  return parts?.map((part) => ({ ...finding, start: start + part.start, end: start + part.end })) ?? [finding];
}

/** An existing token, with surrounding punctuation. */
const SECRET_TOKEN = /^[^A-Za-z0-9]*\[SECRET(?:\\*_[0-9]+)?\\*\][^A-Za-z0-9]*$/;
const MAX_TOKEN_CHARS = 64;

/** Tokens are never scrubbed again, whatever surrounds them. */
function isToken(text: string, { start, end }: Finding): boolean {
  return end - start <= MAX_TOKEN_CHARS && SECRET_TOKEN.test(text.slice(Math.max(0, start - 1), end + 1));
}

/** Applies a person's allowances: disables rules and adds allowlists to the rest. */
export function applyAllowances(configs: readonly GitleaksConfig[], given: Allowances | null): GitleaksConfig[] {
  if (given === null) return [...configs];
  const off = new Set(given.disabledRules);
  const { allowlists, targeted } = readConfigFile(given.allowlists, 'weak');
  return configs.map((config) => ({
    ...config,
    rules: config.rules
      .filter(({ id }) => !off.has(id))
      .map((rule) => ({ ...rule, allowlists: [...rule.allowlists, ...(targeted.get(rule.id) ?? [])] })),
    allowlists: [...config.allowlists, ...allowlists],
  }));
}
