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
  /** Its id where it comes from, and the ids there of those that it took the place of. Default: no links. */
  link?: { id: string; replaces: readonly string[] };
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

type Draft = Pick<Entry, 'place' | 'source' | 'link'> & { draftJson: string };

/** Drafts of one request, and bytes of them. */
const BATCH_DRAFTS = 250;
const BATCH_BYTES = 4 * 1024 * 1024;
const FAULTS_SHOWN = 20;

/** Stores entries in batches, and reports those that cannot be stored by their places. */
export class Import {
  readonly #deps: ImportDeps;
  readonly #from: ImportSource;
  readonly #imported: Imported = { stored: 0, unchanged: 0, refused: 0 };
  #batch: Draft[] = [];
  #batchBytes = 0;
  /** Ids where the memories come from → ids here. */
  readonly #ids = new Map<string, string>();
  /** What took the place of others. These may come later, so links are made at the end. */
  readonly #links: Draft[] = [];

  constructor(deps: ImportDeps, from: ImportSource) {
    this.#deps = deps;
    this.#from = from;
  }

  async run(): Promise<Imported> {
    for await (const { draftJson, fault, ...entry } of this.#from.entries) {
      const { place } = entry;
      if (draftJson !== null) await this.#take({ ...entry, draftJson });
      else {
        // Faults come in the order of their places.
        await this.#send();
        await this.#refuse(place, fault);
      }
    }
    await this.#send();
    await this.#link();
    const { refused } = this.#imported;
    if (refused > FAULTS_SHOWN) await this.#say(`${refused} were left out in all`);
    return this.#imported;
  }

  /** A memory that is there already is stored again with its links, which changes nothing else. */
  async #link(): Promise<void> {
    const { client, root } = this.#deps;
    for (const { source, draftJson, link } of this.#links) {
      const replaces = (link?.replaces ?? []).flatMap((id) => this.#ids.get(id) ?? []);
      const linked = JSON.stringify({ ...JSON.parse(draftJson), replaces });
      if (replaces.length > 0) await client.addMemories({ root, drafts_json: [linked], source });
    }
  }

  async #take(draft: Draft): Promise<void> {
    if (this.#batch.some(({ source }) => source !== draft.source)) await this.#send();
    this.#batch.push(draft);
    if (draft.link !== undefined && draft.link.replaces.length > 0) this.#links.push(draft);
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
    for (const [index, { id, state, fault }] of results.entries()) {
      const { link } = batch[index] ?? first;
      if (link !== undefined && state !== 'refused') this.#ids.set(link.id, id);
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

/** The id and the links of a memory as an export has them; undefined if it has no id. */
export function linkIn({ id, replaces }: { id?: unknown; replaces?: unknown }): Entry['link'] {
  if (typeof id !== 'string') return undefined;
  const ids = Array.isArray(replaces) ? replaces.filter((one) => typeof one === 'string') : [];
  return { id, replaces: ids };
}

/** The fields of a memory as JSON; other fields, such as those of an export, are dropped. */
export function draftJsonOf(value: Readonly<Partial<Record<(typeof FIELDS)[number], unknown>>>): string {
  const fields = FIELDS.flatMap((name): [string, unknown][] => {
    const field = value[name];
    return field === undefined || field === null ? [] : [[name, field]];
  });
  return JSON.stringify(Object.fromEntries(fields));
}
