import { ContextdError } from '../../core/errors.ts';
import { invisibleIn, withoutInvisible } from '../../core/invisible.ts';
import { isJsonObject, type Json, type JsonObject } from '../../core/json.ts';

export const OUTCOMES = ['success', 'failure', 'mixed'] as const;
/** Outcome of the work that a memory comes from, or in which it was used. */
export type MemoryOutcome = (typeof OUTCOMES)[number];

/** The kind of author of a memory: `model` is an agent, `distilled` is contextd, which made it from recorded calls. */
export type MemoryOrigin = 'person' | 'model' | 'distilled' | 'tool' | 'import';

/** `project`: found only in its own project. `global`: found in every project; only a person can make it so. */
export type MemoryScope = 'project' | 'global';

/** A memory as written by its author. All texts are scrubbed. */
export interface MemoryDraft {
  /** A short name of the lesson. */
  readonly title: string;
  /** When to use it and when not; may be empty. */
  readonly description: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly outcome: MemoryOutcome;
  /** The task from which it was learned; may be empty. */
  readonly task: string;
  /** Surroundings, such as file names. Low weight in searches; may be empty. */
  readonly context: string;
}

/** A stored memory. Times are milliseconds since the epoch. */
export interface Memory extends MemoryDraft {
  readonly id: string;
  /** Absolute path of the project in which it was made. */
  readonly project: string;
  readonly scope: MemoryScope;
  readonly origin: MemoryOrigin;
  /** The installed tool that made it; otherwise ''. */
  readonly owner: string;
  /** Origin of a memory made elsewhere, such as a file name; otherwise ''. */
  readonly source: string;
  /** Ids of the calls from which it was learned, oldest first. */
  readonly provenance: readonly string[];
  /** Ids of memories of a similar task that say the opposite. */
  readonly contradicts: readonly string[];
  /** Mean of the posterior, from 0 to 1. */
  readonly confidence: number;
  /** Number of reads of its content. */
  readonly uses: number;
  /** True if it kept failing: searches skip it, but it can be read by id. */
  readonly isQuarantined: boolean;
  /** Ids of older memories that it took the place of. */
  readonly replaces: readonly string[];
  /** The memory that took its place: searches skip it, but it can be read by id; otherwise ''. */
  readonly replacedBy: string;
  readonly createdMs: number;
  readonly updatedMs: number;
  /** Last read of its content; null if never. */
  readonly usedMs: number | null;
}

export const MEMORY_ID_PATTERN = /^mem_[0-9a-z]{10}$/;

/** Maximum characters of each text, bytes of the content, and number of tags. */
export const MEMORY_LIMITS = {
  title: 500,
  description: 4_000,
  contentBytes: 65_536,
  task: 4_000,
  context: 16_000,
  tags: 16,
  tag: 64,
} as const;

/**
 * Reads a draft. Unknown keys are errors, so that a misspelt one is not lost. `invisible`: what to do with non-printing
 * characters in title and tags; texts written elsewhere are stripped. Throws ARGS_INVALID with the JSON pointer of the
 * field.
 */
export function readDraft(value: Json, invisible: 'refuse' | 'strip' = 'refuse'): MemoryDraft {
  if (!isJsonObject(value)) throw invalid('', 'must be an object with a title and a content');
  const unknown = Object.keys(value).find((key) => !DRAFT_KEYS.has(key));
  if (unknown !== undefined) throw invalid(unknown, `is not a field of a memory: ${[...DRAFT_KEYS].join(', ')}`);
  const draft = {
    title: lineOf(textOf(value, 'title', MEMORY_LIMITS.title), 'title', invisible),
    description: textOf(value, 'description', MEMORY_LIMITS.description).trim(),
    content: contentOf(value),
    tags: tagsOf(value, invisible),
    outcome: outcomeOf(value.outcome ?? 'success'),
    task: textOf(value, 'task', MEMORY_LIMITS.task).trim(),
    context: textOf(value, 'context', MEMORY_LIMITS.context).trim(),
  };
  if (draft.title === '') throw invalid('title', 'is missing: name the lesson in a few words');
  if (draft.content === '' && draft.description === '') throw invalid('content', 'is missing: write down the lesson');
  return draft;
}

const DRAFT_KEYS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'content',
  'tags',
  'outcome',
  'task',
  'context',
]);

/** Throws ARGS_INVALID. */
export function outcomeOf(value: Json | undefined): MemoryOutcome {
  const known = OUTCOMES.find((one) => one === value);
  if (known !== undefined) return known;
  const fault = `must be one of ${OUTCOMES.join(', ')}, not ${shortJson(value)}`;
  throw new ContextdError('ARGS_INVALID', `/outcome ${fault}`, {
    remedy: `Pass ${OUTCOMES.join(', ')}.`,
    details: { faults: [{ pointer: '/outcome', fault }] },
  });
}

function textOf(value: JsonObject, name: string, maxChars: number): string {
  const text = value[name] ?? '';
  if (typeof text !== 'string') throw invalid(name, `must be a string, not ${shortJson(text)}`);
  if (text.length > maxChars) throw invalid(name, `has ${text.length} characters of at most ${maxChars}`);
  return text;
}

/** Collapses whitespace to a single line. */
function lineOf(text: string, name: string, invisible: 'refuse' | 'strip'): string {
  const spaced = text.replace(/\s+/g, ' ');
  const line = (invisible === 'strip' ? withoutInvisible(spaced) : spaced).trim();
  const character = invisibleIn(line);
  if (character === null) return line;
  throw invalid(name, `has the character ${character}, which does not print: remove it`);
}

function contentOf(value: JsonObject): string {
  const content = textOf(value, 'content', Number.POSITIVE_INFINITY).trim();
  const bytes = Buffer.byteLength(content);
  if (bytes > MEMORY_LIMITS.contentBytes)
    throw invalid('content', `has ${bytes} bytes of at most ${MEMORY_LIMITS.contentBytes}`);
  return content;
}

/** Distinct, in lower case, sorted. */
function tagsOf(value: JsonObject, invisible: 'refuse' | 'strip'): string[] {
  const tags = value.tags ?? [];
  if (!Array.isArray(tags)) throw invalid('tags', `must be a list of strings, not ${shortJson(tags)}`);
  const texts = tags.map((tag: Json, index) => {
    const text = typeof tag === 'string' && tag.length <= MEMORY_LIMITS.tag ? tag : '';
    const line = lineOf(text, `tags/${index}`, invisible).toLowerCase();
    if (line !== '') return line;
    throw invalid(`tags/${index}`, `must be a string of 1 to ${MEMORY_LIMITS.tag} characters, not ${shortJson(tag)}`);
  });
  const distinct = [...new Set(texts)].sort();
  if (distinct.length > MEMORY_LIMITS.tags) {
    throw invalid('tags', `has ${distinct.length} tags of at most ${MEMORY_LIMITS.tags}`);
  }
  return distinct;
}

function shortJson(value: Json | undefined): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}

/** An ARGS_INVALID for a field of a request. */
export function invalid(name: string, fault: string): ContextdError {
  return new ContextdError('ARGS_INVALID', name === '' ? `a memory ${fault}` : `/${name} ${fault}`, {
    remedy: `For example: {"title":"Run migrations before the tests","content":"…","outcome":"failure"}.`,
    details: { faults: [{ pointer: name === '' ? '' : `/${name}`, fault }] },
  });
}
