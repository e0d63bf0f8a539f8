import type { UpstreamProgram } from '../../call/tool-program.ts';
import { toolMatcher } from '../../catalog/tool-glob.ts';
import type { GatewaySettings } from '../../config/gateway-schema.ts';
import type { Clock } from '../../core/clock.ts';
import { isJsonObject, type Json } from '../../core/json.ts';
import type { ToolOutput } from '../../protocol/tool-output.ts';
import type { ToolCall } from '../../runner/runner.ts';

/** What makes two calls equal. `revision`: of the project's tools, so that nothing is kept across a change of them. */
export interface CachedCall {
  project: string;
  revision: string;
  call: Pick<ToolCall<UpstreamProgram>, 'tool' | 'input' | 'program' | 'form'>;
}

interface Entry {
  output: ToolOutput;
  bytes: number;
  /** Monotonic milliseconds. */
  expiresAt: number;
}

/**
 * Answers of tools that declare to be read-only, for equal calls of a project (gateway surface §4.5). Kept before they are scrubbed, in memory
 * only: each answer is scrubbed for its own session. Failures are not kept, and neither are answers with artifacts, which belong to a session.
 */
export class AnswerCache {
  readonly #settings: GatewaySettings['cache'];
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #allows: (id: string) => boolean;
  /** The entry that was used last at the end. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(settings: GatewaySettings['cache'], clock: Pick<Clock, 'monotonic'>) {
    this.#settings = settings;
    this.#clock = clock;
    const matchers = settings.allow.map(toolMatcher);
    this.#allows = (id) => matchers.length === 0 || matchers.some((matches) => matches(id));
  }

  /** Null: answers of this tool are not kept. */
  keyFor({ project, revision, call: { tool, input, program, form } }: CachedCall): string | null {
    const isKept = this.#settings.read_only && program.annotations.readOnlyHint === true && this.#allows(tool);
    return isKept ? JSON.stringify([project, revision, tool, form === 'content', sorted(input)]) : null;
  }

  get(key: string): ToolOutput | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#drop(key);
    if (entry.expiresAt <= this.#clock.monotonic()) return undefined;
    this.#add(key, entry);
    return entry.output;
  }

  put(key: string, output: ToolOutput): void {
    if (output.failure !== undefined || output.data.artifacts !== undefined) return;
    const bytes = key.length + Buffer.byteLength(JSON.stringify(output));
    if (bytes > this.#settings.max_bytes) return;
    this.#drop(key);
    this.#add(key, { output, bytes, expiresAt: this.#clock.monotonic() + this.#settings.ttl_seconds * 1_000 });
    for (const oldest of this.#entries.keys()) if (this.#isOver()) this.#drop(oldest);
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  #isOver(): boolean {
    return this.#entries.size > this.#settings.max_entries || this.#bytes > this.#settings.max_bytes;
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#bytes += entry.bytes;
  }

  #drop(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}

/** The same value with the keys of all objects in order. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => sorted(item));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]));
}
