import type { Json } from '../../core/json.ts';
import { isJsonObject } from '../../core/json.ts';
import type { DaemonClient } from '../client.ts';
import type { CliContext } from '../context.ts';
import { decodeText, readChunks } from '../input.ts';
import type { ProgressDisplay } from '../progress.ts';
import { printable, write } from '../render.ts';

/** What became of the lines of a file. */
export interface Imported {
  stored: number;
  /** They were there already. */
  unchanged: number;
  /** Lines that are no memory. */
  refused: number;
}

interface ImportDeps {
  context: CliContext;
  client: Pick<DaemonClient, 'addMemories'>;
  root: string;
  progress: ProgressDisplay;
  /** 0 if it is not known. */
  totalBytes: number;
}

interface Line {
  number: number;
  draftJson: string;
}

/** Drafts of one request, and bytes of them. */
const BATCH_DRAFTS = 250;
const BATCH_BYTES = 4 * 1024 * 1024;
const FAULTS_SHOWN = 20;
const FIELDS = ['title', 'description', 'content', 'tags', 'outcome', 'task', 'context'];

export function createImport(deps: ImportDeps): { run(file: string, source: string): Promise<Imported> } {
  return { run: (file, source) => new Import(deps, source).run(file) };
}

class Import {
  readonly #deps: ImportDeps;
  readonly #source: string;
  readonly #imported: Imported = { stored: 0, unchanged: 0, refused: 0 };
  #batch: Line[] = [];
  #batchBytes = 0;
  #readBytes = 0;

  constructor(deps: ImportDeps, source: string) {
    this.#deps = deps;
    this.#source = source;
  }

  async run(file: string): Promise<Imported> {
    let number = 0;
    for await (const line of this.#lines(file)) {
      number += 1;
      if (line.trim() !== '') await this.#take(number, line);
    }
    await this.#send();
    const { refused } = this.#imported;
    if (refused > FAULTS_SHOWN) await this.#say(`${refused} lines were left out in all`);
    return this.#imported;
  }

  async *#lines(file: string): AsyncGenerator<string> {
    const { context } = this.#deps;
    const text = decodeText(this.#counted(readChunks(file, context)), () => {
      context.stderr.write('ctxd: bytes of the input that are not UTF-8 became U+FFFD\n');
    });
    let rest = '';
    for await (const part of text) {
      const lines = (rest + part).split('\n');
      rest = lines.pop() ?? '';
      yield* lines;
    }
    if (rest !== '') yield rest;
  }

  async *#counted(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      this.#readBytes += chunk.length;
      yield chunk;
    }
  }

  async #take(number: number, line: string): Promise<void> {
    const draftJson = draftIn(line);
    if (draftJson === null) return this.#refuse(number, 'it is not a JSON object');
    this.#batch.push({ number, draftJson });
    this.#batchBytes += draftJson.length;
    if (this.#batch.length >= BATCH_DRAFTS || this.#batchBytes >= BATCH_BYTES) await this.#send();
  }

  async #send(): Promise<void> {
    const batch = this.#batch;
    this.#batch = [];
    this.#batchBytes = 0;
    if (batch.length === 0) return;
    const { client, root, progress, totalBytes, context } = this.#deps;
    const drafts_json = batch.map(({ draftJson }) => draftJson);
    const { results } = await client.addMemories({ root, drafts_json, source: this.#source });
    for (const [index, { state, fault }] of results.entries()) {
      if (state === 'stored') this.#imported.stored += 1;
      else if (state !== 'refused') this.#imported.unchanged += 1;
      else await this.#refuse(batch[index]?.number ?? 0, fault);
    }
    if (context.stderr.isTTY !== true) return;
    const { stored, unchanged } = this.#imported;
    const bytes = { bytes: this.#readBytes, total_bytes: totalBytes, bytes_per_second: 0 };
    progress.show({ step: 'import', ...bytes, text: `${stored + unchanged} memories` });
  }

  async #refuse(number: number, fault: string): Promise<void> {
    this.#imported.refused += 1;
    if (this.#imported.refused <= FAULTS_SHOWN) await this.#say(`line ${number} was left out: ${printable(fault)}`);
  }

  async #say(text: string): Promise<void> {
    this.#deps.progress.end();
    await write(this.#deps.context.stderr, `ctxd: ${text}\n`);
  }
}

/** The fields of a memory in a line, as JSON; other fields, such as those of an export, are dropped. */
function draftIn(line: string): string | null {
  try {
    const value: unknown = JSON.parse(line);
    if (!isJsonObject(value)) return null;
    const fields = FIELDS.flatMap((name): [string, Json][] => {
      const field = value[name];
      return field === undefined || field === null ? [] : [[name, field]];
    });
    return JSON.stringify(Object.fromEntries(fields));
  } catch {
    return null;
  }
}
