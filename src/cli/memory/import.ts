import type { DaemonClient } from '../client.ts';
import type { CliContext } from '../context.ts';
import type { ProgressDisplay } from '../progress.ts';
import { printable, write } from '../render.ts';

/** What became of what was read. */
export interface Imported {
  stored: number;
  /** They were there already. */
  unchanged: number;
  /** What is no memory. */
  refused: number;
}

/** Something that was read: a draft as JSON, or why there is no draft. */
export interface Entry {
  /** Where it was read, such as `line 7`. */
  place: string;
  /** What the memory names as its source. */
  source: string;
  draftJson: string | null;
  /** Why there is no draft; '' otherwise. */
  fault: string;
}

/** Where the entries come from, with how many bytes have been read; 0 bytes in all if that is not known. */
export interface ImportSource {
  entries: AsyncIterable<Entry>;
  readBytes(): number;
  totalBytes: number;
}

interface ImportDeps {
  context: CliContext;
  client: Pick<DaemonClient, 'addMemories'>;
  root: string;
  progress: ProgressDisplay;
}

/** Drafts of one request, and bytes of them. */
const BATCH_DRAFTS = 250;
const BATCH_BYTES = 4 * 1024 * 1024;
const FAULTS_SHOWN = 20;

/** Stores entries in batches, and reports those that cannot be stored by their places. */
export class Import {
  readonly #deps: ImportDeps;
  readonly #from: ImportSource;
  readonly #imported: Imported = { stored: 0, unchanged: 0, refused: 0 };
  #batch: { place: string; source: string; draftJson: string }[] = [];
  #batchBytes = 0;

  constructor(deps: ImportDeps, from: ImportSource) {
    this.#deps = deps;
    this.#from = from;
  }

  async run(): Promise<Imported> {
    for await (const { place, source, draftJson, fault } of this.#from.entries) {
      if (draftJson !== null) await this.#take({ place, source, draftJson });
      else {
        // Faults come in the order of their places.
        await this.#send();
        await this.#refuse(place, fault);
      }
    }
    await this.#send();
    const { refused } = this.#imported;
    if (refused > FAULTS_SHOWN) await this.#say(`${refused} were left out in all`);
    return this.#imported;
  }

  async #take(draft: { place: string; source: string; draftJson: string }): Promise<void> {
    if (this.#batch.some(({ source }) => source !== draft.source)) await this.#send();
    this.#batch.push(draft);
    this.#batchBytes += draft.draftJson.length;
    if (this.#batch.length >= BATCH_DRAFTS || this.#batchBytes >= BATCH_BYTES) await this.#send();
  }

  async #send(): Promise<void> {
    const batch = this.#batch;
    const [first] = batch;
    this.#batch = [];
    this.#batchBytes = 0;
    if (first === undefined) return;
    const { client, root, progress, context } = this.#deps;
    const drafts_json = batch.map(({ draftJson }) => draftJson);
    const { results } = await client.addMemories({ root, drafts_json, source: first.source });
    for (const [index, { state, fault }] of results.entries()) {
      if (state === 'stored') this.#imported.stored += 1;
      else if (state !== 'refused') this.#imported.unchanged += 1;
      else await this.#refuse(batch[index]?.place ?? '', fault);
    }
    if (context.stderr.isTTY !== true) return;
    const { stored, unchanged } = this.#imported;
    const bytes = { bytes: this.#from.readBytes(), total_bytes: this.#from.totalBytes, bytes_per_second: 0 };
    progress.show({ step: 'import', ...bytes, text: `${stored + unchanged} memories` });
  }

  async #refuse(place: string, fault: string): Promise<void> {
    this.#imported.refused += 1;
    if (this.#imported.refused <= FAULTS_SHOWN)
      await this.#say(`${printable(place)} was left out: ${printable(fault)}`);
  }

  async #say(text: string): Promise<void> {
    this.#deps.progress.end();
    await write(this.#deps.context.stderr, `ctxd: ${text}\n`);
  }
}

const FIELDS = ['title', 'description', 'content', 'tags', 'outcome', 'task', 'context'] as const;

/** The fields of a memory as JSON; other fields, such as those of an export, are dropped. */
export function draftJsonOf(value: Readonly<Partial<Record<(typeof FIELDS)[number], unknown>>>): string {
  const fields = FIELDS.flatMap((name): [string, unknown][] => {
    const field = value[name];
    return field === undefined || field === null ? [] : [[name, field]];
  });
  return JSON.stringify(Object.fromEntries(fields));
}
