import vm from 'node:vm';
import { parseGo } from '../src/scrub/exact/go-syntax.ts';
import type { GoNode } from '../src/scrub/exact/go-tree.ts';
import { LinearEngine } from '../src/scrub/exact/linear-engine.ts';
import { isTranslatable, NativeEngine } from '../src/scrub/exact/native-engine.ts';
import { SHORT_CHARS } from '../src/scrub/exact/short-line-engine.ts';
import { attackStrings, mutate, type Random, sampleOf, seededRandom } from './attack-strings.ts';

/** Texts of any length, or up to SHORT_CHARS. */
export type Reach = 'all' | 'short';

export interface Trial {
  source: string;
  /** What is to be certified. */
  reach: Reach;
  seed: number;
  /** Microseconds per character that are too slow. At 2, 1 MB takes two seconds. */
  maxCost: number;
}

const ATTACK_CHARS: Record<Reach, number> = { all: 16_384, short: SHORT_CHARS };
const LONG_CHARS = 262_144;
/** What is faster, in microseconds per character, is not measured again at the greater length. */
const QUICK_COST = 0.1;
/** A search that takes longer is killed: milliseconds of the clock, of which a busy machine gives it a share. */
const KILL_MS = 4000;
/** Milliseconds of the processor after which a killed search counts as endless; with less, it is tried again. */
const ENDLESS_CPU_MS = 1000;
const EQUALITY_TEXTS = 12;
const TRIES = 6;

/** Returns why a pattern may not run as a JavaScript regular expression; null if nothing was found against it. */
export function tryPattern(trial: Trial): string | null {
  const tree = parseGo(trial.source);
  if (!isTranslatable(tree)) return 'JavaScript cannot say it';
  const random = seededRandom(trial.seed);
  return findDifference(trial.source, tree, random) ?? findSlowText(trial, tree, random);
}

function findSlowText({ reach, maxCost }: Trial, tree: GoNode, random: Random): string | null {
  const engine = new NativeEngine(tree);
  let slowest = { text: '', cost: 0 };
  for (const text of attackStrings(tree, ATTACK_CHARS[reach], random)) {
    const cost = costOf(() => engine.findAll(text), text.length, maxCost);
    if (cost > maxCost) return describeSlow(text, cost);
    if (cost > slowest.cost) slowest = { text, cost };
  }
  if (reach === 'short' || slowest.cost < QUICK_COST) return null;
  const longer = lengthen(slowest.text);
  const cost = costOf(() => engine.findAll(longer), longer.length, maxCost);
  return cost > maxCost ? describeSlow(longer, cost) : null;
}

/**
 * Returns microseconds of this thread's processor time per character, the best of a few tries. What else the machine does
 * hardly counts. Infinity: it was killed.
 */
export function costOf(work: () => void, chars: number, enough: number): number {
  let best = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && best > enough; tries++) {
    let tookMs = Number.POSITIVE_INFINITY;
    const started = cpuMs();
    const search = (): void => {
      work();
      tookMs = cpuMs() - started;
    };
    if (!finishes(search)) {
      if (cpuMs() - started >= ENDLESS_CPU_MS) return Number.POSITIVE_INFINITY;
      continue;
    }
    // A search that overflowed V8's stack does not count.
    if (!Number.isFinite(tookMs)) return 0;
    best = Math.min(best, (tookMs * 1000) / chars);
  }
  return best;
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

const SCRIPT = new vm.Script('run()');
const ROOM: { run(): void } = { run: () => undefined };
const CONTEXT = vm.createContext(ROOM);

function finishes(run: () => void): boolean {
  ROOM.run = run;
  try {
    SCRIPT.runInContext(CONTEXT, { timeout: KILL_MS });
    return true;
  } catch (thrown) {
    // Its class belongs to the other context, so it is recognised by its fields.
    const { code, name }: { code?: unknown; name?: unknown } = Object(thrown);
    if (code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    // V8's backtracking stack is full. The daemon uses re2js then, so the pattern is not at fault.
    if (name === 'RangeError') return true;
    throw thrown;
  }
}

/** The same text with its middle repeated. */
function lengthen(text: string): string {
  const from = Math.floor(text.length / 3);
  const middle = text.slice(from, 2 * from);
  return text.slice(0, from) + middle.repeat(Math.ceil((LONG_CHARS - text.length) / from)) + text.slice(from);
}

function describeSlow(text: string, cost: number): string {
  const speed = Number.isFinite(cost) ? `${cost.toFixed(2)} µs per character` : `over ${ENDLESS_CPU_MS} ms`;
  const show = (part: string): string => JSON.stringify(part);
  return `slow: ${speed} on ${text.length} characters: ${show(text.slice(0, 120))} … ${show(text.slice(-40))}`;
}

function findDifference(source: string, tree: GoNode, random: Random): string | null {
  const native = new NativeEngine(tree);
  const linear = new LinearEngine(source);
  for (let i = 0; i < EQUALITY_TEXTS; i++) {
    const text = equalityText(tree, random, i);
    const found = linear.findAll(text);
    if (!isSame(native.findAll(text), found) || native.test(text) !== found.length > 0) return describeOther(text);
    const match = text.slice(found[0]?.start, found[0]?.end);
    if (native.hasGroups && !isSame(native.groups(match), linear.groups(match))) return describeOther(match);
  }
  return null;
}

function equalityText(tree: GoNode, random: Random, kind: number): string {
  const sample = sampleOf(tree, random);
  if (kind % 3 === 0) return sample;
  if (kind % 3 === 1) return mutate(sample, random).slice(0, 600);
  return [sample, mutate(sample, random), mutate(sample, random)].join(['\n', ' ', '', ';'][random(4)]).slice(0, 900);
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function describeOther(text: string): string {
  return `finds something else than re2js in ${JSON.stringify(text)}`;
}
