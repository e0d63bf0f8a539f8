import type { Envelope, EnvelopeMeta } from '../core/envelope.ts';
import { isJsonObject, type Json, type JsonObject } from '../core/json.ts';
import { cutBefore } from './cut-points.ts';

/** Facts that stay whatever else goes. */
const ESSENTIAL = ['error_code', 'error_type', 'retryable', 'retry_after_ms', 'exit_code', 'signal', 'ended_by'];
const FIRST_SIZE = 16_384;
const LAST_SIZE = 32;
const DEPTH_MAX = 6;
const NOTICE = 'data is cut to fit the budget; raise max_tokens to see more';

/**
 * Ever smaller versions of an envelope whose facts alone exceed the budget: strings of at most `size` UTF-16 units,
 * lists and objects of at most `size / 4` entries, `size` halving; at last only the essential facts. `keep` names
 * further entries of data that stay. Facts are in no artifact: `meta.warnings` says that they were cut.
 */
export function* shrunkEnvelopes(envelope: Envelope, keep: readonly string[]): Generator<Envelope> {
  const kept = new Set([...ESSENTIAL, ...keep]);
  for (let size = FIRST_SIZE; size >= LAST_SIZE; size /= 2) yield shrinkEnvelope(envelope, size, kept);
  yield bareEnvelope(envelope, kept);
}

function shrinkEnvelope(envelope: Envelope, size: number, kept: ReadonlySet<string>): Envelope {
  const entries = Object.entries(envelope.data).filter(([key], index) => kept.has(key) || index < size / 4);
  return {
    ...markPartial(envelope, shrinkMeta(envelope.meta, size)),
    data: Object.fromEntries(entries.map(([key, value]) => [key, shrinkJson(value, size, DEPTH_MAX)])),
    error: envelope.error === null ? null : shrinkText(envelope.error, size),
    refs: envelope.refs.slice(0, size / 4),
  };
}

function bareEnvelope(envelope: Envelope, kept: ReadonlySet<string>): Envelope {
  const { version, request_id } = envelope.meta;
  const entries = Object.entries(envelope.data).filter(([key, value]) => kept.has(key) && !isContainer(value));
  return {
    ...markPartial(envelope, { version, request_id }),
    data: Object.fromEntries(entries.map(([key, value]) => [key, shrinkJson(value, LAST_SIZE, 0)])),
    error: envelope.error === null ? null : shrinkText(envelope.error, 2 * LAST_SIZE),
    refs: envelope.refs.slice(0, 1),
  };
}

function markPartial(envelope: Envelope, meta: EnvelopeMeta): Envelope {
  return { ...envelope, truncated: true, meta: { ...meta, content_fidelity: 'partial' } };
}

function shrinkMeta(meta: EnvelopeMeta, size: number): EnvelopeMeta {
  const { densified, view, telemetry, warning_details, ...rest } = meta;
  const smaller: EnvelopeMeta = { ...rest, warnings: [...shrinkList(meta.warnings ?? [], size), NOTICE] };
  if (meta.denied !== undefined)
    smaller.denied = meta.denied.slice(0, size / 16).map((denial) => ({
      ...denial,
      ...(denial.path === undefined ? {} : { path: shrinkText(denial.path, size) }),
      ...(denial.host === undefined ? {} : { host: shrinkText(denial.host, size) }),
      how_to_allow: shrinkText(denial.how_to_allow, size),
    }));
  if (meta.isolation !== undefined) {
    smaller.isolation = { ...meta.isolation, missing: shrinkList(meta.isolation.missing, size) };
  }
  return smaller;
}

function shrinkList(texts: readonly string[], size: number): string[] {
  return texts.slice(0, size / 16).map((text) => shrinkText(text, size));
}

function shrinkJson(value: Json, size: number, depth: number): Json {
  if (typeof value === 'string') return shrinkText(value, size);
  if (!isContainer(value)) return value;
  if (depth === 0) return null;
  if (!isJsonObject(value)) return value.slice(0, size / 4).map((item) => shrinkJson(item, size, depth - 1));
  const entries = Object.entries(value).slice(0, size / 4);
  return Object.fromEntries(entries.map(([key, item]) => [shrinkText(key, size), shrinkJson(item, size, depth - 1)]));
}

function isContainer(value: Json): value is readonly Json[] | JsonObject {
  return typeof value === 'object' && value !== null;
}

function shrinkText(text: string, size: number): string {
  return text.length <= size ? text : `${text.slice(0, cutBefore(text, size))}…`;
}
