import { Edits } from '../../text/view.ts';
import type { GitleaksConfig } from '../exact/config.ts';
import { readConfigFile } from '../exact/config-file.ts';
import { lowerCase } from '../exact/keyword-index.ts';
import { loadConfig, loadPackFile } from '../exact/load-config.ts';
import type { RuleFile } from '../exact/rule-pack.ts';
import { RuleSet } from '../exact/rule-set.ts';
import { ruleFault } from '../exact/toml-table.ts';
import type { Finding } from '../finding.ts';
import { isCovered, type MaskedView, maskView, mergeFindings } from '../spans.ts';
import type { Allowances } from '../workspace-rules.ts';
import { type Reading, readingsOf } from './readings.ts';
import { WholeValues } from './whole-values.ts';

/** Finds secrets by pattern, in whatever form they are shown. Pure and synchronous; it knows no session's secrets. */
export interface ScrubEngine {
  /** Returns everything that must not leave, in order of place, without overlap. Time is linear in the text. */
  scan(text: string): Finding[];
  readonly ruleCount: number;
}

export interface EngineOptions {
  /**
   * `now` (default): every pattern is compiled, and a bad one is SCHEMA_INVALID naming file and rule. `when used`:
   * compiled at the first text with a keyword of the rule, for rules that another engine of the program has already
   * compiled.
   */
  compile?: 'now' | 'when used';
  /** gitleaks' own configuration. Default null: our own rules apply alone. */
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

/** Masking a secret may uncover another that shared a separator with it, so the text is scanned this many times. */
const MAX_PASSES = 4;
/** Characters scanned again around a masked place: nothing else has changed. */
const AGAIN_CHARS = 1024;
/** If more than this surrounds masked places, it is read only as it is: the text consists of findings. */
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
    const wholes = new Map<Reading | null, WholeValues>([[null, new WholeValues(text, found)]]);
    const all = [...found];
    for (const reading of readingsOf(text)) {
      const shown = this.#find(reading.view.text);
      wholes.set(reading, new WholeValues(reading.view.text, shown));
      for (const finding of shown) {
        const place = this.#placeOf(finding, reading, wholes);
        if (place !== null) all.push(place);
      }
    }
    return all;
  }

  #find(text: string): Finding[] {
    const found = [...this.#rules.find(text, { maxDecodeDepth: MAX_DECODE_DEPTH }), ...findKeyBodies(text)];
    return found.filter((finding) => !isToken(text, finding));
  }

  /** The place in the text of a finding in a reading. Null if it is not believed, or not in one piece. */
  #placeOf(finding: Finding, reading: Reading, wholes: ReadonlyMap<Reading | null, WholeValues>): Finding | null {
    const { rule, start, end } = finding;
    const needsMark = reading.kinds.some((kind) => kind.needsMark);
    if (needsMark && !this.#marks.isMarked(rule, reading.view.text.slice(start, end))) return null;
    let place: Finding = finding;
    for (let at: Reading | null = reading; at !== null; at = at.inner) {
      const span = at.view.toOriginal(place.start, place.end);
      if (span === null) return null;
      place = { rule, ...span };
      place.end = wholes.get(at.inner)?.endOf(place, (id, value) => this.#marks.isMarked(id, value)) ?? place.end;
    }
    return place;
  }
}

/** A token that already stands for a secret, with the signs around it. */
const SECRET_TOKEN = /^[^A-Za-z0-9]*\[SECRET(?:\\*_[0-9]+)?\\*\][^A-Za-z0-9]*$/;
const MAX_TOKEN_CHARS = 64;

/** Scrubbed text is not scrubbed again, whatever surrounds the tokens. */
function isToken(text: string, { start, end }: Finding): boolean {
  return end - start <= MAX_TOKEN_CHARS && SECRET_TOKEN.test(text.slice(Math.max(0, start - 1), end + 1));
}

/** Shorter keywords occur in ordinary text. */
const MIN_KEYWORD_CHARS = 3;
const MIN_SECRET_CHARS = 16;

/**
 * Distinguishes secrets that begin with a keyword of their rule (ghp_, AKIA) from secrets that only their surroundings
 * identify. In text that was joined from pieces, only the former are believed.
 */
class Marks {
  readonly #keywords = new Map<string, string[]>();

  constructor(configs: readonly GitleaksConfig[]) {
    for (const { rules } of configs)
      for (const { id, keywords } of rules) {
        const long = keywords.filter((keyword) => keyword.length >= MIN_KEYWORD_CHARS);
        this.#keywords.set(id, [...(this.#keywords.get(id) ?? []), ...long]);
      }
  }

  isMarked(rule: string, secret: string): boolean {
    if (secret.length < MIN_SECRET_CHARS) return false;
    if (secret.startsWith('-----BEGIN')) return true;
    const beginning = lowerCase(secret.slice(0, 32));
    return (this.#keywords.get(rule) ?? []).some((keyword) => beginning.startsWith(keyword));
  }
}

/**
 * The first digits of a private key in base64: DER of RSA and PKCS #8 keys of any length (a sequence that begins with
 * the version 0), of EC and Edwards keys, of encrypted ones, and OpenSSH's own format. Certificates and public keys
 * begin otherwise.
 */
const FIRST_LINE =
  /(?<![A-Za-z0-9+/])(?:MII[A-Za-z0-9+/]{3}IBA[A-P]|MI[GHIJ][A-Za-z0-9+/]Ag(?:EA|EB)|M[A-P][A-Za-z0-9+/]CAQ(?:EE|Aw)|MI[A-Za-z0-9+/]{3,8}BgkqhkiG9w0BBQ0|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/]{30,}={0,2}/g;
/** The next line of it, with what grep, diff, a quote or JSON put between. */
const NEXT_LINE = /(?:[ \t"'`+,|>\\]|\\+[nrt]|\r?\n|[0-9]{1,6}[:-]){1,12}[A-Za-z0-9+/]{4,}={0,2}(?![A-Za-z0-9])/y;
/** The end of a key whose beginning is not there. */
const END = /-----END[ A-Z0-9]{0,30}PRIVATE KEY(?: BLOCK)?-----/g;
/** A whole line of base64, as it stands before such an end. */
const BODY_LINE = /^[ \t"'`+,|>]*(?:[0-9]{1,6}[:-])?[ \t"'`+,|>]*[A-Za-z0-9+/]{16,}={0,2}[ \t"'`+,|>\r]*$/;
const LAST_LINE = /^[ \t"'`+,|>]*(?:[0-9]{1,6}[:-])?[ \t"'`+,|>]*[A-Za-z0-9+/]{1,64}={0,2}[ \t"'`+,|>\r]*$/;
const MAX_LINE_CHARS = 120;

const RULE = 'private-key-body';

/** Finds private keys that are incomplete: without their BEGIN line, or from anywhere up to their END line. */
function findKeyBodies(text: string): Finding[] {
  const found: Finding[] = [];
  let done = 0;
  for (const { 0: line, index } of text.matchAll(FIRST_LINE)) {
    if (index < done) continue;
    done = bodyEnd(text, index + line.length);
    found.push({ rule: RULE, start: index, end: done });
  }
  for (const { index } of text.matchAll(END)) {
    const start = bodyStart(text, index);
    if (start < index) found.push({ rule: RULE, start, end: index });
  }
  return found;
}

function bodyEnd(text: string, from: number): number {
  NEXT_LINE.lastIndex = from;
  let end = from;
  while (text[end - 1] !== '=' && NEXT_LINE.test(text)) end = NEXT_LINE.lastIndex;
  return end;
}

/** Goes up line by line: the one before the END may be short, the others are lines of base64. */
function bodyStart(text: string, end: number): number {
  let start = end;
  let lineEnd = text.lastIndexOf('\n', end - 1);
  if (end - lineEnd > MAX_LINE_CHARS) return end;
  for (let line = LAST_LINE; lineEnd > 0; line = BODY_LINE) {
    const from = Math.max(0, lineEnd - MAX_LINE_CHARS);
    const lineStart = from + text.slice(from, lineEnd).lastIndexOf('\n') + 1;
    if (!line.test(text.slice(lineStart, lineEnd))) break;
    start = lineStart;
    lineEnd = lineStart - 1;
  }
  return start;
}

/** Applies what a person approved: disables rules and adds allowlists to the rest. */
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
