import { createHash } from 'node:crypto';
import type { AuditLog } from '../../audit/log.ts';
import type { Paths } from '../../config/paths.ts';
import type { GitleaksUse } from '../../config/schema.ts';
import { type Clock, pause, type Timer } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import type { Part } from '../../core/lifecycle.ts';
import type { Logger } from '../../core/log.ts';
import type { SecondSearch } from '../../dispatch/scrub.ts';
import { maskStreams } from '../../dispatch/store.ts';
import { type AuditItem, Auditor, type AuditorState } from '../../scrub/gitleaks/auditor.ts';
import { findBinary, type GitleaksBinary, type GitleaksPlaces } from '../../scrub/gitleaks/binary.ts';
import type { IsSecret } from '../../scrub/gitleaks/judged.ts';
import {
  clearWorkDir,
  createGitleaksRun,
  type GitleaksRun,
  type MissedSecret,
  missedSecrets,
} from '../../scrub/gitleaks/run.ts';
import { createWaitingSearch, type WaitingSearch } from '../../scrub/gitleaks/waiting.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { type ArtifactStore, type ArtifactStream, readStreams } from '../../stores/artifacts.ts';

export interface StandingAuditorDeps {
  use: GitleaksUse;
  places: GitleaksPlaces;
  paths: Pick<Paths, 'gitleaksWorkDir'>;
  scrubber: Scrubber;
  isSecret: IsSecret;
  artifacts: ArtifactStore;
  auditLog: AuditLog;
  clock: Clock;
  timer: Timer;
  logger: Logger;
}

/** What `ctxd doctor` and `ctxd stats` report of the auditor. */
export interface StandingAuditorState {
  use: GitleaksUse;
  /** Null if gitleaks is not installed; nothing is searched a second time then. */
  program: GitleaksBinary | null;
  /** Answers that left without this search, because gitleaks failed. */
  failedBefore: number;
  /** Null unless gitleaks runs in the background. */
  background: AuditorState | null;
}

/** Runs the real gitleaks, if it is installed, over what the engine let through. */
export interface StandingAuditor extends Part, SecondSearch {
  state(): StandingAuditorState;
  /** Resolves when no output waits to be searched. */
  idle(): Promise<void>;
}

/** Milliseconds that gitleaks may take for one answer, if none leaves without it. */
const ALWAYS_MS = 30_000;
/** The same for `small`. */
const SMALL_MS = 5_000;
/** Texts that are not searched again after the answer. */
const CLEAN_TEXTS_MAX = 4096;
/** UTF-16 characters of an answer that gitleaks reads at once from its input: a longer one may be cut where a file would not be. */
const WHOLE_MAX_CHARS = 4096;
/** UTF-16 characters of the longest answer that `small` searches before it leaves. */
const SMALL_MAX_CHARS = 64 * 1024;

export function createStandingAuditor(deps: StandingAuditorDeps): StandingAuditor {
  const stopping = new AbortController();
  let program: GitleaksBinary | null = null;
  let background: Auditor | undefined;
  let before: WaitingSearch | undefined;
  let failedBefore = 0;
  const clean = new CleanTexts();
  return {
    name: 'gitleaks auditor',
    async start() {
      await clearWorkDir(deps.paths.gitleaksWorkDir);
      if (deps.use === 'off') return;
      program = await findBinary(deps.places);
      if (program === null) return;
      if (deps.use !== 'background') before = createBefore(program, deps);
      if (deps.use !== 'always')
        background = createBackground(createRun(program, deps, { lowPriority: true }), clean, deps, stopping.signal);
      deps.logger.info('scrub.auditor_ready', { version: program.version, use: deps.use });
    },
    async stop() {
      // The next daemon may use the folder by now.
      if (stopping.signal.aborted) return;
      stopping.abort();
      before?.stop();
      await background?.stop();
      await clearWorkDir(deps.paths.gitleaksWorkDir);
    },
    stored: (item) => background?.submit(item),
    async missedIn(texts) {
      const secretsAmong = async (search: WaitingSearch, withinMs: number) =>
        (await search.run(texts, withinMs)).filter((found) => deps.isSecret(found, texts));
      if (deps.use === 'always') {
        if (before === undefined) throw notInstalled();
        return missedSecrets(await secretsAmong(before, ALWAYS_MS));
      }
      const chars = charsOf(texts);
      if (before === undefined || chars === 0 || chars > SMALL_MAX_CHARS) return [];
      try {
        const missed = missedSecrets(await secretsAmong(before, SMALL_MS));
        if (missed.length === 0 && chars <= WHOLE_MAX_CHARS) clean.add(texts);
        return missed;
      } catch (thrown) {
        // Our own engine has masked the texts, and the background search reads them again once they are stored.
        failedBefore += 1;
        deps.logger.error('scrub.gitleaks_failed', {}, thrown);
        return [];
      }
    },
    state: () => ({ use: deps.use, program, failedBefore, background: background?.state() ?? null }),
    idle: async () => background?.idle(),
  };
}

/** The last texts in which gitleaks found nothing before they left. */
class CleanTexts {
  readonly #hashes = new Set<string>();

  add(texts: readonly string[]): void {
    for (const text of texts) this.#hashes.add(sha256(text));
    for (const oldest of this.#hashes) {
      if (this.#hashes.size <= CLEAN_TEXTS_MAX) break;
      this.#hashes.delete(oldest);
    }
  }

  has(text: string): boolean {
    return this.#hashes.has(sha256(text));
  }
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

function charsOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}

function createRun(
  program: GitleaksBinary,
  { paths }: StandingAuditorDeps,
  { lowPriority }: { lowPriority: boolean },
): GitleaksRun {
  return createGitleaksRun({ program: program.path, workDir: paths.gitleaksWorkDir, lowPriority });
}

function createBefore(program: GitleaksBinary, deps: StandingAuditorDeps): WaitingSearch {
  const overFiles = createRun(program, deps, { lowPriority: false });
  return createWaitingSearch({ program: program.path, overFiles, timer: deps.timer });
}

function createBackground(
  run: GitleaksRun,
  clean: CleanTexts,
  deps: StandingAuditorDeps,
  signal: AbortSignal,
): Auditor {
  return new Auditor({
    run,
    read: async (item) => {
      const streams = await readStored(item, deps.artifacts);
      return (
        streams?.map(({ text }) => text).filter((text) => text.length > WHOLE_MAX_CHARS || !clean.has(text)) ?? null
      );
    },
    isSecret: deps.isSecret,
    secretsAmong: ({ session }, missed) => deps.scrubber.secretsAmong(session, missed),
    onMissed: (item, missed) => deps.artifacts.exclusively(item.artifactId, () => maskStored(item, missed, deps)),
    pause: (ms) => pause(deps.timer, ms, signal),
    logger: deps.logger,
  });
}

/** Null if the artifact is gone. */
async function readStored(
  { session, artifactId }: AuditItem,
  artifacts: ArtifactStore,
): Promise<ArtifactStream[] | null> {
  try {
    return await readStreams(artifacts, session, artifactId);
  } catch (thrown) {
    const { code } = ContextdError.from(thrown);
    if (code === 'NOT_FOUND' || code === 'EXPIRED') return null;
    throw thrown;
  }
}

/** Makes the secrets known to the session, masks them in the stored output, and records that. */
async function maskStored(item: AuditItem, missed: readonly MissedSecret[], deps: StandingAuditorDeps): Promise<void> {
  const streams = (await readStored(item, deps.artifacts)) ?? [];
  const { masked, secrets } = await maskStreams(item.session, streams, missed, deps.scrubber);
  const whole = masked.map(({ text }) => text).join('');
  if (masked.length > 0) await deps.artifacts.replace(item.session, item.artifactId, masked);
  deps.logger.warn('scrub.secret_missed', { artifact: item.artifactId, rules: missed.map(({ rule }) => rule) });
  const { project, session } = item.session;
  const rules = [...new Set(missed.map(({ rule }) => rule))];
  await deps.auditLog.append({
    time: new Date(deps.clock.now()).toISOString(),
    request_id: item.requestId,
    session: deps.scrubber.maskText(session),
    project,
    door: 'gitleaks',
    kind: 'secret_missed',
    tool: item.tool,
    input: { artifact: item.artifactId, tokens: secrets.map(({ token }) => token) },
    output_sha256: createHash('sha256').update(whole).digest('hex'),
    output_bytes: Buffer.byteLength(whole),
    duration_ms: 0,
    secrets_found: missed.length,
    secret_rules: rules,
    exit_code: null,
    error_code: null,
  });
}

function notInstalled(): ContextdError {
  return new ContextdError(
    'SCRUB_FAILED',
    'the output was withheld: scrub.gitleaks is "always", and gitleaks is not installed',
    {
      remedy: 'A person can install it (`ctxd doctor` says how) or run `ctxd config set scrub.gitleaks small`.',
    },
  );
}
