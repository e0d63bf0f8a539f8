import { Channel } from '../../core/channel.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { SnapshotReply, SnapshotRequest } from '../contract/snapshot-messages.ts';
import type { Jail } from '../jail/bubblewrap.ts';

const STDERR_KEPT_CHARS = 4_096;
/** An answer names all changes of a workspace. */
const ANSWER_MAX_BYTES = 256 * 1024 * 1024;
const NEWLINE = 0x0a;

/** What it needs of its sandbox. */
type Kept = Pick<Jail, 'child' | 'ended' | 'gone' | 'kill'>;

/**
 * The program that keeps the files of one workspace. It answers in the order of the requests. It runs as the owner of the workspace, who can
 * make it say anything: what is no answer ends it, and nothing else.
 */
export class KeeperProcess {
  readonly #jail: Kept;
  readonly #channel: Channel<SnapshotRequest, SnapshotReply>;
  #answered = 0;
  #words = '';
  /** Of an answer that has not ended. */
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(jail: Kept) {
    this.#jail = jail;
    const { stdin, stdout, stderr } = jail.child;
    this.#channel = new Channel((_, request) => stdin?.write(`${JSON.stringify(request)}\n`));
    stdin?.on('error', () => {});
    stderr?.on('data', (chunk: Buffer) => {
      this.#words = (this.#words + chunk.toString()).slice(-STDERR_KEPT_CHARS);
    });
    stdout?.on('data', (chunk: Buffer) => this.#read(chunk));
    const end = (): void => this.#channel.close(new Error(`it ended: ${this.#words.trim()}`));
    jail.ended.then(end, end);
  }

  get hasEnded(): boolean {
    return this.#channel.isClosed;
  }

  get isBusy(): boolean {
    return this.#channel.pendingCount > 0;
  }

  /** Rejects with the reason if it could not be done, or if the program ended. */
  ask(request: SnapshotRequest): Promise<SnapshotReply> {
    return this.#channel.ask(request);
  }

  /** Kills it and waits for its end. */
  async stop(): Promise<void> {
    this.#jail.kill();
    await this.#jail.gone;
  }

  #read(chunk: Buffer): void {
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      this.#parts.push(chunk.subarray(from, end));
      this.#take(Buffer.concat(this.#parts).toString());
      [this.#parts, this.#bytes, from] = [[], 0, end + 1];
    }
    if (from === chunk.length) return;
    this.#parts.push(chunk.subarray(from));
    this.#bytes += chunk.length - from;
    if (this.#bytes > ANSWER_MAX_BYTES) this.#refuse(`it answered more than ${ANSWER_MAX_BYTES} bytes`);
  }

  #take(line: string): void {
    // The program answers in order, so its lines need no number.
    this.#answered += 1;
    const id = this.#answered;
    const answer = jsonObjectOrNull(line);
    if (answer === null || !this.#channel.isPending(id)) this.#refuse(`it answered ${line.slice(0, 200)}`);
    else if (isReply(answer.reply)) this.#channel.resolve(id, answer.reply);
    else if (answer.reply !== undefined) this.#channel.reject(id, new Error(`it answered ${line.slice(0, 200)}`));
    else this.#channel.reject(id, new Error(String(answer.error)));
  }

  #refuse(why: string): void {
    this.#parts = [];
    this.#jail.child.stdout?.destroy();
    this.#channel.close(new Error(why));
    this.#jail.kill();
  }
}

function jsonObjectOrNull(line: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(line);
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isReply(value: unknown): value is SnapshotReply {
  if (!isJsonObject(value)) return false;
  const { changes, isFirst, missed, uncovered, uncoveredCount, tree, bytes, ignored, touched } = value;
  return (
    typeof isFirst === 'boolean' &&
    (tree === null || typeof tree === 'string') &&
    [uncoveredCount, bytes].every((count) => typeof count === 'number') &&
    isListOf(changes, ({ before, after }) => isState(before) && isState(after)) &&
    [missed, uncovered].every(isUncoveredList) &&
    Array.isArray(ignored) &&
    ignored.every((path) => typeof path === 'string') &&
    Array.isArray(touched) &&
    touched.every(isUncoveredList)
  );
}

function isUncoveredList(value: unknown): boolean {
  return isListOf(value, ({ why }) => typeof why === 'string');
}

function isState(value: unknown): boolean {
  return value === null || typeof value === 'string';
}

function isListOf(value: unknown, fits: (item: JsonObject) => boolean): boolean {
  return (
    Array.isArray(value) &&
    value.every((item: unknown) => isJsonObject(item) && typeof item.path === 'string' && fits(item))
  );
}
