import { ownLine } from '../../core/own-line.ts';
import { escapeOwnLines } from '../../text/own-lines.ts';
import { COLOUR } from '../../text/terminal.ts';
import { ProgressWindow, type Release } from './progress-window.ts';

/** Milliseconds between two updates. */
const UPDATE_EVERY_MS = 100;
/** Ended commands that still have output to show; beyond this number the oldest are dropped. */
const ENDED_MAX = 16;

/** Receives what one command prints. Neither method waits for anything. */
export interface CommandListener {
  output(stream: 'stdout' | 'stderr', bytes: Buffer): void;
  ended(): void;
}

export interface ProgressFeedDeps {
  /** Returns the texts as they may leave. Throws if they cannot be searched. */
  scrub(texts: readonly Release[]): Promise<readonly string[]>;
  show(text: string): void;
  /** Calls `action` after `ms` milliseconds, unless the returned function is called before. */
  later(ms: number, action: () => void): () => void;
  /** Called when progress ends because of a fault; the call continues. */
  onFault(thrown: unknown): void;
}

/**
 * Shows a waiting person what the commands of one call print: the newest lines, scrubbed, ten times a second. It keeps
 * a few windows in memory and drops the rest, so that a command never waits for it.
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

  /** Stops showing anything. Idempotent. */
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

/** Colours, and any other control character except line ends and tabs. */
const STEERING = new RegExp(`${COLOUR}|(?![\\t\\n])[\\p{Cc}\\p{Bidi_Control}]`, 'gu');
const RESET_COLOURS = '\u001b[0m';
/** Everything before the last carriage return of a line that is overwritten again and again. */
const OVERWRITTEN = /[^\r\n]*\r(?=[^\r\n])/g;
const LINE_ENDS_WITH_RETURN = /\r+(?=\n|$)/g;

/**
 * Returns output that cannot steer the terminal it is shown on: line ends, tabs and colours stay, other control
 * characters become visible. Whole lines, after a line that says how many bytes before them are not shown.
 */
export function forPerson(text: string, skippedBytes: number): string {
  const lines = text.replaceAll(LINE_ENDS_WITH_RETURN, '').replaceAll(OVERWRITTEN, '');
  let isColoured = false;
  const visible = lines.replaceAll(STEERING, (found) => {
    if (found.length === 1) return `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`;
    isColoured = true;
    return found;
  });
  const skipped = skippedBytes === 0 ? '' : `${ownLine(`${skippedBytes} bytes are not shown here`)}\n`;
  const end = visible.endsWith('\n') || visible === '' ? '' : '\n';
  const { stdout } = escapeOwnLines({ stdout: visible, stderr: '' });
  return `${skipped}${stdout}${isColoured ? RESET_COLOURS : ''}${end}`;
}
