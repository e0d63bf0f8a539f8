import { ProgressWindow, type Release } from './progress-window.ts';
import { forPerson } from './visible-text.ts';

/** Milliseconds between two updates. */
const UPDATE_EVERY_MS = 100;
/** Commands that are over and of which something is still to be shown; of more, the oldest are dropped. */
const ENDED_MAX = 16;

/** Is told what one command prints, as it comes. Neither method waits for anything. */
export interface CommandListener {
  output(stream: 'stdout' | 'stderr', bytes: Buffer): void;
  ended(): void;
}

export interface ProgressFeedDeps {
  /** The texts as they may leave. Throws when they cannot be searched. */
  scrub(texts: readonly Release[]): Promise<readonly string[]>;
  show(text: string): void;
  /** Calls back after so many milliseconds, unless the function it returns was called before. */
  later(ms: number, action: () => void): () => void;
  /** Progress ends because of a fault; the call goes on. */
  onFault(thrown: unknown): void;
}

/**
 * What the commands of one call print, for a person who waits: the newest lines, ten times a second, scrubbed. It
 * keeps a few windows in memory and lets the rest go: a command never waits for it.
 */
export class ProgressFeed {
  readonly #deps: ProgressFeedDeps;
  readonly #commands = new Set<FollowedCommand>();
  #cancelUpdate: (() => void) | null = null;
  #isUpdating = false;
  #isFresh = false;
  #isStopped = false;

  constructor(deps: ProgressFeedDeps) {
    this.#deps = deps;
  }

  listen(): CommandListener {
    const command: FollowedCommand = {
      streams: { stdout: new ProgressWindow(), stderr: new ProgressWindow() },
      isOver: false,
    };
    this.#commands.add(command);
    return {
      output: (stream, bytes) => {
        if (this.#isStopped) return;
        command.streams[stream].add(bytes);
        this.#changed();
      },
      ended: () => {
        command.isOver = true;
        this.#dropOldest();
        this.#changed();
      },
    };
  }

  /** Nothing is shown from now on. Idempotent. */
  stop(): void {
    this.#isStopped = true;
    this.#cancelUpdate?.();
    this.#commands.clear();
  }

  #changed(): void {
    this.#isFresh = true;
    if (this.#isStopped || this.#isUpdating || this.#cancelUpdate !== null) return;
    this.#cancelUpdate = this.#deps.later(UPDATE_EVERY_MS, () => void this.#update());
  }

  async #update(): Promise<void> {
    this.#cancelUpdate = null;
    this.#isFresh = false;
    this.#isUpdating = true;
    try {
      const releases = [...this.#commands].flatMap((command) => this.#take(command));
      const texts = releases.length === 0 ? [] : await this.#deps.scrub(releases);
      if (this.#isStopped || texts.length === 0) return;
      this.#deps.show(texts.map((text, i) => forPerson(text, releases[i]?.skippedBytes ?? 0)).join(''));
    } catch (thrown) {
      this.stop();
      this.#deps.onFault(thrown);
    } finally {
      this.#isUpdating = false;
      if (this.#isFresh) this.#changed();
    }
  }

  #take(command: FollowedCommand): Release[] {
    const { streams, isOver } = command;
    if (isOver) this.#commands.delete(command);
    return [streams.stdout.take(isOver), streams.stderr.take(isOver)].filter((release) => release !== null);
  }

  #dropOldest(): void {
    const ended = [...this.#commands].filter(({ isOver }) => isOver);
    for (const command of ended.slice(0, -ENDED_MAX)) this.#commands.delete(command);
  }
}

interface FollowedCommand {
  readonly streams: Readonly<Record<'stdout' | 'stderr', ProgressWindow>>;
  isOver: boolean;
}
