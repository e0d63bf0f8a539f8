import { createInterface } from 'node:readline';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { Jail } from '../bubblewrap.ts';
import type { SnapshotReply, SnapshotRequest } from './messages.ts';

const STDERR_KEPT_CHARS = 4_096;

interface Waiting {
  resolve(reply: SnapshotReply): void;
  reject(cause: Error): void;
}

/** The program that keeps the files of one workspace. It answers in the order of the requests. */
export class KeeperProcess {
  readonly #jail: Jail;
  readonly #waiting: Waiting[] = [];
  #words = '';
  #hasEnded = false;

  constructor(jail: Jail) {
    this.#jail = jail;
    const { stdin, stdout, stderr } = jail.child;
    stdin?.on('error', () => {});
    stderr?.on('data', (chunk: Buffer) => {
      this.#words = (this.#words + chunk.toString()).slice(-STDERR_KEPT_CHARS);
    });
    if (stdout !== null) createInterface({ input: stdout }).on('line', (line) => this.#take(line));
    const end = (): void => {
      this.#hasEnded = true;
      for (const one of this.#waiting.splice(0)) one.reject(new Error(`it ended: ${this.#words.trim()}`));
    };
    jail.ended.then(end, end);
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get isBusy(): boolean {
    return this.#waiting.length > 0;
  }

  /** Rejects with the reason if it could not be done, or if the program ended. */
  ask(request: SnapshotRequest): Promise<SnapshotReply> {
    if (this.#hasEnded) return Promise.reject(new Error(`it ended: ${this.#words.trim()}`));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#jail.child.stdin?.write(`${JSON.stringify(request)}\n`);
    });
  }

  /** Kills it and waits for its end. */
  async stop(): Promise<void> {
    this.#jail.kill();
    await this.#jail.gone;
  }

  #take(line: string): void {
    const waiting = this.#waiting.shift();
    const answer: unknown = JSON.parse(line);
    if (!isJsonObject(answer)) throw new Error(`the keeper of files answered ${line.slice(0, 200)}`);
    if (isReply(answer.reply)) waiting?.resolve(answer.reply);
    else if (answer.reply !== undefined) waiting?.reject(new Error(`it answered ${line.slice(0, 200)}`));
    else waiting?.reject(new Error(String(answer.error)));
  }
}

function isReply(value: unknown): value is SnapshotReply {
  if (!isJsonObject(value)) return false;
  const { changes, isFirst, missed, uncovered, uncoveredCount, tree, bytes } = value;
  return (
    typeof isFirst === 'boolean' &&
    (tree === null || typeof tree === 'string') &&
    [uncoveredCount, bytes].every((count) => typeof count === 'number') &&
    isListOf(changes, ({ before, after }) => isState(before) && isState(after)) &&
    [missed, uncovered].every((list) => isListOf(list, ({ why }) => typeof why === 'string'))
  );
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
