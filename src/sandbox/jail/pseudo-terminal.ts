import { type Activity, TERMINAL_SIZE } from '../contract/command.ts';

/** What a terminal adds to the environment. */
export const TERMINAL_ENV = { TERM: 'xterm-256color' };
const CTRL_D = Buffer.from('\x04');
const [NEWLINE, RETURN] = [0x0a, 0x0d];

const MISSING =
  'contextd: a terminal needs the program script, which is not installed. Install util-linux (Debian: bsdutils, Fedora: util-linux-script).';

/**
 * The command on a terminal of its own. `script` makes the terminal: Node cannot, and a native add-on would have to be
 * compiled. It passes on what it gets as input, and exits as the command does.
 */
export function onTerminal(argv: readonly string[]): string[] {
  const { columns, rows } = TERMINAL_SIZE;
  const check = `command -v script >/dev/null || { echo '${MISSING}' >&2; exit 127; }`;
  const start = 'exec script --quiet --flush --return --command "$1" /dev/null';
  const command = `stty rows ${rows} columns ${columns}; exec ${argv.map(quote).join(' ')}`;
  return ['bash', '-c', `${check}\n${start}`, 'contextd-terminal', command];
}

function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** Bytes as a person types them: the Enter key sends a carriage return, and Ctrl-D ends the input. */
export function asTyped(data: Buffer, isEnd: boolean): Buffer {
  const typed = Buffer.from(data.map((byte) => (byte === NEWLINE ? RETURN : byte)));
  return isEnd ? Buffer.concat([typed, CTRL_D]) : typed;
}

/** The first looks are close together; later ones are rarer, because a look reads the state of all processes. */
const [LOOK_MIN_MS, LOOK_MAX_MS, LOOK_SHARE] = [150, 1_000, 20];
/** Milliseconds without output in which the command only waited for input, before the next step. */
const TYPE_AFTER_MS = 300;
const END_AFTER_MS = 1_500;
const END_AGAIN_AFTER_MS = 400;
const GIVE_UP_AFTER_MS = 1_500;
/** The input is typed after this time even if nothing shows that the command waits for it. */
const TYPE_ANYWAY_MS = 5_000;
/** How often Ctrl-D is typed: one may only end a line that has begun, and each ends the input of one program. */
const ENDS_MAX = 5;

export interface TerminalUse {
  /** What the call gives as input; null: nothing. */
  input: Buffer | null;
  look(): Activity | null;
  /** Bytes that the command has printed. */
  printedBytes(): number;
  type(data: Buffer, isEnd: boolean): void;
  giveUp(): void;
  /** Aborts when the command has ended. */
  signal: AbortSignal;
}

/**
 * Answers a command on a terminal, for a call: types the input when the command waits for input, then Ctrl-D when it waits
 * again. If it still waits, and nothing else can make it go on, gives up.
 */
export function serveTerminal(use: TerminalUse): void {
  const startedAt = performance.now();
  let quietSince: number | null = null;
  let printed = -1;
  let ends = 0;
  let input = use.input;

  const step = (now: number): void => {
    const activity = use.look();
    const isQuiet = activity?.needsInput === true && use.printedBytes() === printed;
    printed = use.printedBytes();
    quietSince = isQuiet ? (quietSince ?? now) : null;
    const quietMs = quietSince === null ? 0 : now - quietSince;
    if (input !== null) {
      if (quietMs < TYPE_AFTER_MS && now - startedAt < TYPE_ANYWAY_MS) return;
      use.type(input, false);
      input = null;
      quietSince = null;
    } else if (ends < ENDS_MAX) {
      if (quietMs < (ends === 0 ? END_AFTER_MS : END_AGAIN_AFTER_MS)) return;
      use.type(Buffer.alloc(0), true);
      ends += 1;
      quietSince = null;
    } else if (quietMs >= GIVE_UP_AFTER_MS && activity?.isStuck === true) use.giveUp();
  };
  const later = (): NodeJS.Timeout => {
    const pause = (performance.now() - startedAt) / LOOK_SHARE;
    return setTimeout(
      () => {
        step(performance.now());
        if (!use.signal.aborted) timer = later();
      },
      Math.min(LOOK_MAX_MS, Math.max(LOOK_MIN_MS, pause)),
    );
  };
  let timer = later();
  use.signal.addEventListener('abort', () => clearTimeout(timer), { once: true });
}
