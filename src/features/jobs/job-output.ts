import type { SessionRef } from '../../call/session.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import type { OutputGap } from '../../core/gap.ts';
import { Lock } from '../../core/lock.ts';
import { decodeStream } from '../../runner/exec-output.ts';
import { endOfLines, endOfQuiet, endOfShown } from '../../runner/progress/held-back.ts';
import type { Release } from '../../runner/progress/progress-window.ts';
import {
  type Capture,
  closeCapture,
  openCapture,
  restoreCapture,
  stateOf,
} from '../../sandbox/client/terminal-capture.ts';
import type { CapturedStream } from '../../sandbox/contract/command.ts';
import type { CaptureState } from '../../sandbox/contract/stream-capture.ts';
import { dropCutEnd, dropCutStart } from '../../sdk/cut-text.ts';
import { type ArtifactStore, type ArtifactStream, readStreams } from '../../stores/artifacts.ts';
import { detectCharset } from '../../text/charset-detector.ts';

/** Bytes on both sides of a new part that are searched with it. */
const CONTEXT_BYTES = 16 * 1024;
/** Maximum number of bytes held back; longer than any key block. */
const HELD_MAX_BYTES = 256 * 1024;
/** Milliseconds without output after which an unterminated line counts as complete: it is a prompt. */
const QUIET_MS = 500;
/** Leading bytes from which the charset, and whether the output is binary, are detected. */
const CHARSET_WINDOW_BYTES = 64 * 1024;

/** The one text of a job's artifact: stdout and stderr in the order in which they were written. */
export const OUTPUT_FIELD = 'output';

/** A scrubbed text, the new place of its gap, and the rules of the secrets in it. */
export interface ScrubbedText {
  text: string;
  gap: OutputGap | null;
  rules: readonly string[];
}

export interface JobOutputDeps {
  artifacts: ArtifactStore;
  /** Scrubs like step 6 of a call. Throws SCRUB_FAILED; then nothing of the text may be shown. */
  scrub(
    session: SessionRef,
    release: Release,
    job: Pick<JobOutputSpec, 'startedBy' | 'opened'>,
    gap: OutputGap | null,
  ): Promise<ScrubbedText>;
  /** Masks secrets that became known since. */
  mask(session: SessionRef, stream: ArtifactStream): Promise<ArtifactStream>;
  clock: Clock;
}

export interface JobOutputSpec {
  session: SessionRef;
  /** Request id under which the artifact is stored. */
  jobId: string;
  /** Tool under which the artifact is stored. */
  tool: string;
  /** The tool that started the job. */
  startedBy: string;
  /** Maximum bytes kept. Beyond it the first and the last half are kept. */
  maxBytes: number;
  /** Tokens whose values the command received. The values are masked even if they are very short. */
  opened: readonly string[];
  /** True: the job writes to a terminal, and the output is the text that the terminal shows. */
  isTerminal: boolean;
}

/** The output of a job as plain data. */
export interface JobOutputState {
  readonly spec: JobOutputSpec;
  readonly artifactId: string;
  readonly text: string;
  readonly released: number;
  readonly isReleased: boolean;
  readonly droppedBytes: number;
  readonly rules: readonly string[];
  readonly capture: CaptureState;
}

/**
 * The output of a job, as an artifact that grows. The raw bytes are only in memory, as for any running command. New
 * output is scrubbed, together with its surroundings, when a caller looks at the job; a possibly unfinished secret is
 * held back. At the end the whole output is searched again, and the artifact becomes what it would be for a call.
 */
export class JobOutput {
  readonly #deps: JobOutputDeps;
  readonly #spec: JobOutputSpec;
  #capture: Capture;
  readonly rules = new Set<string>();
  #artifactId: string;
  /** Current text of the artifact. */
  #text = '';
  /** Bytes that are in the text or were recognized as binary. */
  #released = 0;
  #lastByteAt = 0;
  #isReleased = false;
  #droppedBytes = 0;
  readonly #refreshes = new Lock();
  #onGrowth = Promise.withResolvers<void>();

  static async create(spec: JobOutputSpec, deps: JobOutputDeps): Promise<JobOutput> {
    const { id, committed } = deps.artifacts.put(spec.session, spec.jobId, spec.tool, emptyOutput(), 0);
    await committed;
    return new JobOutput(id, spec, deps);
  }

  /** Goes on with an output of the daemon before. */
  static restore(state: JobOutputState, deps: JobOutputDeps): JobOutput {
    const output = new JobOutput(state.artifactId, state.spec, deps);
    output.#text = state.text;
    output.#released = state.released;
    output.#isReleased = state.isReleased;
    output.#droppedBytes = state.droppedBytes;
    output.#lastByteAt = deps.clock.monotonic();
    for (const rule of state.rules) output.rules.add(rule);
    if (!state.isReleased) output.#capture = restoreCapture(state.spec.maxBytes, state.spec.isTerminal, state.capture);
    return output;
  }

  private constructor(artifactId: string, spec: JobOutputSpec, deps: JobOutputDeps) {
    this.#artifactId = artifactId;
    this.#spec = spec;
    this.#deps = deps;
    this.#capture = openCapture(spec.maxBytes, spec.isTerminal);
  }

  /** Call when nothing is added any more, for `restore` in another daemon. */
  state(): Promise<JobOutputState> {
    return this.#refreshes.run(async () => ({
      spec: this.#spec,
      artifactId: this.#artifactId,
      text: this.#text,
      released: this.#released,
      isReleased: this.#isReleased,
      droppedBytes: this.#droppedBytes,
      rules: [...this.rules],
      capture: await stateOf(this.#capture),
    }));
  }

  get artifactId(): string {
    return this.#artifactId;
  }

  /** Scrubbed text as of the last refresh. Empty after `release`. */
  get text(): string {
    return this.#text;
  }

  get droppedBytes(): number {
    return this.#droppedBytes;
  }

  /** Bytes printed by the job. */
  get totalBytes(): number {
    return this.#capture.totalBytes;
  }

  /** Bytes not in the text yet. */
  get heldBytes(): number {
    return Math.max(0, this.#capture.totalBytes - this.#released);
  }

  /** Settles at the next output. */
  get growth(): Promise<void> {
    return this.#onGrowth.promise;
  }

  /** Milliseconds until the last line counts as whole; null if it does, or nothing is held back. */
  get quietInMs(): number | null {
    const left = this.#lastByteAt + QUIET_MS - this.#deps.clock.monotonic();
    return this.heldBytes === 0 || left <= 0 ? null : Math.ceil(left);
  }

  add(bytes: Buffer): void {
    this.#capture.add(bytes);
    this.#lastByteAt = this.#deps.clock.monotonic();
    const { resolve } = this.#onGrowth;
    this.#onGrowth = Promise.withResolvers();
    resolve();
  }

  /** Brings text and artifact up to date. Throws SCRUB_FAILED and STORAGE_FULL; both then stay unchanged. */
  refresh(): Promise<void> {
    return this.#refreshes.run(() => this.#refresh());
  }

  /** Call when the command has ended: searches the whole output again. Throws like `refresh`. */
  finish(): Promise<void> {
    return this.#refreshes.run(async () => this.#makeAgain(await this.#capture.result(), this.#capture.totalBytes));
  }

  /** The scrubbed text as of the last refresh. Empty if it was pruned. */
  async read(): Promise<string> {
    if (!this.#isReleased) return this.#text;
    const { artifacts } = this.#deps;
    try {
      const [stream] = await readStreams(artifacts, this.#spec.session, this.#artifactId);
      return stream?.text ?? '';
    } catch (thrown) {
      if (isGone(thrown)) return '';
      throw thrown;
    }
  }

  /** Call after `finish`: from now on the text is only in the artifact. */
  release(): void {
    this.#isReleased = true;
    this.#text = '';
    closeCapture(this.#capture);
    this.#capture = openCapture(0, false);
  }

  async #refresh(): Promise<void> {
    const { totalBytes } = this.#capture;
    if (totalBytes === this.#released) return;
    const isQuiet = this.#deps.clock.monotonic() - this.#lastByteAt >= QUIET_MS;
    const captured = await this.#capture.result();
    const { droppedBytes, head } = captured;
    const charset = detectCharset(head.subarray(0, CHARSET_WINDOW_BYTES));
    // A terminal may change lines it showed before.
    const isAppended = droppedBytes === 0 && !this.#spec.isTerminal;
    if (isAppended && charset?.label === 'utf-8') return this.#append(head, isQuiet);
    // Line ends are not searched for in multi-byte characters, so such output is shown only at the end.
    if (charset !== null && charset.unitBytes > 1) return;
    const shown = charset === null ? captured : withoutHeldEnd(captured, isQuiet);
    const heldBytes = captured.head.length + captured.tail.length - shown.head.length - shown.tail.length;
    await this.#makeAgain(shown, totalBytes - heldBytes);
  }

  /** Scrubs the new part, together with its surroundings. */
  async #append(data: Buffer, isQuiet: boolean): Promise<void> {
    const from = this.#released;
    const to = from + withoutHeld(data.subarray(from), isQuiet).length;
    if (to === from) return;
    const release = {
      before: dropCutStart(data.subarray(Math.max(0, from - CONTEXT_BYTES), from)).toString(),
      text: data.toString('utf8', from, to),
      after: dropCutEnd(data.subarray(to, to + CONTEXT_BYTES)).toString(),
      skippedBytes: 0,
    };
    const { text: added } = await this.#scrub(release, null);
    await this.#keep({ field: OUTPUT_FIELD, text: this.#text + added }, 0);
    this.#released = to;
  }

  /** Scrubs everything that was kept, as the output of a call. */
  async #makeAgain(captured: CapturedStream, released: number): Promise<void> {
    const whole = decodeStream(captured);
    const { text, gap } = await this.#scrub({ before: '', text: whole.text, after: '', skippedBytes: 0 }, whole.gap);
    const stream = { field: OUTPUT_FIELD, text, ...(gap === null ? {} : { gap }) };
    await this.#keep(stream, whole.droppedBytes);
    this.#released = released;
  }

  async #scrub(release: Release, gap: OutputGap | null): Promise<ScrubbedText> {
    const scrubbed = await this.#deps.scrub(this.#spec.session, release, this.#spec, gap);
    for (const rule of scrubbed.rules) this.rules.add(rule);
    return scrubbed;
  }

  /** Masks secrets that became known later in earlier text too. */
  async #keep(stream: ArtifactStream, droppedBytes: number): Promise<void> {
    const { session } = this.#spec;
    const safe = await this.#deps.mask(session, stream);
    const { artifacts } = this.#deps;
    const streams = [safe];
    const id = this.#artifactId;
    try {
      await artifacts.exclusively(id, async () => {
        if (!safe.text.startsWith(this.#text)) await artifacts.replace(session, id, streams);
        await artifacts.grow(session, id, streams, droppedBytes);
      });
    } catch (thrown) {
      if (!isGone(thrown)) throw thrown;
      // It was pruned by age or quota while the job ran.
      const { jobId, tool } = this.#spec;
      const made = artifacts.put(session, jobId, tool, streams, droppedBytes);
      await made.committed;
      this.#artifactId = made.id;
    }
    this.#text = safe.text;
    this.#droppedBytes = droppedBytes;
  }
}

function emptyOutput() {
  return [{ field: OUTPUT_FIELD, text: '' }];
}

function withoutHeldEnd(captured: CapturedStream, isQuiet: boolean): CapturedStream {
  const { head, tail, droppedBytes } = captured;
  if (droppedBytes === 0) return { ...captured, head: withoutHeld(head, isQuiet) };
  return { ...captured, tail: withoutHeld(tail, isQuiet) };
}

/** Cuts off an end that may be part of a secret. */
function withoutHeld(data: Buffer, isQuiet: boolean): Buffer {
  const to = isQuiet ? endOfQuiet(data) : endOfShown(data, false);
  if (data.length - to <= HELD_MAX_BYTES) return dropCutEnd(data.subarray(0, to));
  return dropCutEnd(data.subarray(0, isQuiet ? data.length : endOfLines(data)));
}

function isGone(thrown: unknown): boolean {
  return thrown instanceof ContextdError && (thrown.code === 'NOT_FOUND' || thrown.code === 'EXPIRED');
}
