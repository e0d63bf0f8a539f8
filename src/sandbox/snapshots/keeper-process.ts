import { createInterface } from 'node:readline';
import { Channel } from '../../core/channel.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { SnapshotReply, SnapshotRequest } from '../contract/snapshot-messages.ts';
import type { Jail } from '../jail/bubblewrap.ts';

const STDERR_KEPT_CHARS = 4_096;

/** The program that keeps the files of one workspace. It answers in the order of the requests. */
export class KeeperProcess {
  readonly #jail: Jail;
  readonly #channel: Channel<SnapshotRequest, SnapshotReply>;
  #answered = 0;
  #words = '';

  constructor(jail: Jail) {
    this.#jail = jail;
    const { stdin, stdout, stderr } = jail.child;
    this.#channel = new Channel((_, request) => stdin?.write(`${JSON.stringify(request)}\n`));
    stdin?.on('error', () => {});
    stderr?.on('data', (chunk: Buffer) => {
      this.#words = (this.#words + chunk.toString()).slice(-STDERR_KEPT_CHARS);
    });
    if (stdout !== null) createInterface({ input: stdout }).on('line', (line) => this.#take(line));
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

  #take(line: string): void {
    // The program answers in order, so its lines need no number.
    this.#answered += 1;
    const id = this.#answered;
    const answer: unknown = JSON.parse(line);
    if (!isJsonObject(answer)) throw new Error(`the keeper of files answered ${line.slice(0, 200)}`);
    if (isReply(answer.reply)) this.#channel.resolve(id, answer.reply);
    else if (answer.reply !== undefined) this.#channel.reject(id, new Error(`it answered ${line.slice(0, 200)}`));
    else this.#channel.reject(id, new Error(String(answer.error)));
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
