import type { AuditRecord } from '../../audit/record.ts';
import { type SessionRef, sessionKey } from '../../call/session.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { Denial } from '../../core/envelope.ts';
import { ContextdError } from '../../core/errors.ts';
import { newShortId } from '../../core/ids.ts';
import type { Logger } from '../../core/log.ts';
import type { Resuming } from '../../sandbox/contract/heritage.ts';
import type { SandboxPolicy } from '../../sandbox/contract/policy.ts';
import type { Sandbox } from '../../sandbox/contract/sandbox.ts';
import type { AuditItem } from '../../scrub/gitleaks/auditor.ts';
import type { LiveSessions } from '../../stores/live-sessions.ts';
import type { OpenJobs, StoredJob } from '../../stores/open-jobs.ts';
import { ENDED_WORDS, type Ender, JOB_MAX_MS, Job, type JobSpec, type JobState } from './job.ts';
import { type FindingsState, JobFindings } from './job-findings.ts';
import { JobOutput, type JobOutputDeps } from './job-output.ts';
import { type JobRecordDeps, recordEnd, recordStart } from './job-records.ts';

/** Maximum number of ended jobs per session that can still be listed and shown. */
const ENDED_KEPT = 32;
const MINUTE_MS = 60_000;
/** Milliseconds for a job to exit after SIGTERM when its session or the daemon ends. */
const GRACE_MS = 2_000;

/** Merges both streams into one pipe, so that they stay in order as on a terminal. */
const ONE_STREAM = ['bash', '-c', 'exec "$@" 2>&1', 'bash'];

/** The tool that shows the output of jobs, and whose cursors point into it. */
const JOBS_TOOL = 'jobs';

/** All jobs as plain data. */
export interface JobsState {
  readonly jobs: readonly JobState[];
  readonly findings: FindingsState;
}

export interface JobsDeps extends JobOutputDeps, JobRecordDeps {
  /** Without `resume`, jobs end with the daemon. */
  sandbox: Pick<Sandbox, 'begin'> & Partial<Resuming>;
  liveSessions: Pick<LiveSessions, 'nextJob'>;
  openJobs: OpenJobs;
  /** Queues a stored output for a second search in the background. */
  stored(item: AuditItem): void;
  /** Called for every ended job. Must return at once and not throw. */
  onJobEnded(job: EndedJob): void;
  config: Pick<Config, 'jobs'>;
  logger: Logger;
  clock: Clock;
}

/** An ended job, with its audit record. */
export interface EndedJob {
  readonly session: SessionRef;
  readonly record: AuditRecord;
  /**
   * False if its session, its lease, the daemon, `stop` or a person ended it. A command that reacts to SIGTERM with a
   * normal exit counts as true, except after a kill by a person.
   */
  readonly endedByItself: boolean;
  readonly endedMs: number;
  /** End of its scrubbed output. */
  readonly text: string;
  readonly artifact: string;
}

/** A command to run in the background. */
export interface NewJob {
  session: SessionRef;
  tool: string;
  command: string;
  cwd: string;
  env: Readonly<Record<string, string>>;
  /** The whole stdin; null: stdin stays open for input. */
  stdin: string | null;
  /** True: runs on a terminal. `stdin` is then typed, and more input may follow. */
  isTerminal: boolean;
  policy: SandboxPolicy;
  opened: readonly string[];
  outputKillBytes: number;
}

/** The background jobs of all sessions. A job dies with its session, at the end of its lease, and with the daemon. */
export class Jobs {
  readonly name = 'jobs';
  readonly findings = new JobFindings();
  readonly #deps: JobsDeps;
  readonly #jobs = new Map<string, Job[]>();
  /** Ids of jobs that are on record and not among the jobs yet. */
  readonly #unlisted = new Set<string>();
  /** Session key → number of jobs being started. */
  readonly #starting = new Map<string, number>();
  /** Settles when the end of a job is recorded. */
  readonly #records = new Map<Job, Promise<void>>();
  #isStopped = false;

  constructor(deps: JobsDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    this.#isStopped = false;
  }

  /** Ends every job and waits until all ends are recorded. Idempotent. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.running().map((job) => job.stop('daemon', GRACE_MS)));
    await Promise.all(this.#records.values());
  }

  /**
   * Leaves all jobs to the next daemon. Call when nothing arrives from commands any more: then jobs whose commands have ended are
   * recorded first.
   */
  async leave(): Promise<JobsState> {
    await Promise.all([...this.#records].flatMap(([job, recorded]) => (job.isOver ? [recorded] : [])));
    const jobs = await Promise.all([...this.#jobs.values()].flat().map((job) => job.state()));
    this.#jobs.clear();
    this.#records.clear();
    return { jobs, findings: this.findings.state };
  }

  /** Goes on with the jobs of the daemon before. */
  adopt({ jobs, findings }: JobsState): void {
    this.findings.restore(findings);
    for (const state of jobs) {
      const job = this.#restored(state, JobOutput.restore(state.output, this.#deps));
      this.#list(job);
      job.restore(state);
      if (job.end === null) this.#recordLater(job);
    }
  }

  #restored({ spec, run }: JobState, output: JobOutput): Job {
    const abort = new AbortController();
    if (run === null) return new Job(spec, null, output, abort, this.#deps.clock);
    const { sandbox } = this.#deps;
    if (sandbox.resume === undefined) throw new Error('no job goes on here');
    const command = sandbox.resume(
      spec.session.project,
      {
        number: run,
        signal: abort.signal,
        run: { session: spec.session.session, requestId: spec.id },
        onOutput: (_stream, bytes) => output.add(bytes),
      },
      (found) => this.findings.add(spec.session, found),
    );
    return new Job(spec, command, output, abort, this.#deps.clock);
  }

  /** Returns when the command has started. Throws RESOURCE_LIMIT and the sandbox's errors. */
  async begin(request: NewJob): Promise<Job> {
    this.#checkRoom(request.session);
    const job = await this.#counted(request.session, () => this.#prepare(request));
    try {
      await job.started;
    } catch (cause) {
      this.#remove(job);
      throw cause;
    }
    if (request.stdin !== null) await job.input(request.stdin, !request.isTerminal);
    return job;
  }

  /** Jobs started in the session's base or in its branch, oldest first. */
  of(session: SessionRef): readonly Job[] {
    return this.#all(session).filter(({ spec }) => spec.session.branch === session.branch);
  }

  /** Includes jobs of the session's branches. */
  #all(session: SessionRef): readonly Job[] {
    return this.#jobs.get(sessionKey(session)) ?? [];
  }

  /** Finds a job and renews its lease. Throws NOT_FOUND. */
  find(session: SessionRef, number: number): Job {
    const jobs = this.of(session);
    const job = jobs.find(({ spec }) => spec.number === number);
    if (job === undefined) {
      const known = jobs.map(({ spec }) => spec.number).join(', ');
      throw new ContextdError('NOT_FOUND', `this session has no job ${number}`, {
        remedy:
          known === ''
            ? 'It has none: a job ends with its session and with the daemon.'
            : `It has ${known}; a job ends with its session and with the daemon.`,
      });
    }
    this.renew(job);
    return job;
  }

  renew(job: Job): void {
    job.renewLease(this.#deps.config.jobs.lease_minutes * MINUTE_MS);
  }

  /** The running jobs of all sessions, oldest first. */
  running(): Job[] {
    return [...this.#jobs.values()]
      .flat()
      .filter(({ end }) => end === null)
      .sort((a, b) => a.spec.startedMs - b.spec.startedMs);
  }

  /** Refreshes the artifact if it is the output of a running job. */
  async refreshArtifact(session: SessionRef, artifactId: string): Promise<void> {
    const job = this.#all(session).find(({ output, end }) => end === null && output.artifactId === artifactId);
    await job?.output.refresh();
  }

  /**
   * Jobs of the session or branch that ended with an earlier daemon, oldest first. The newest 32 that were listed stay on record.
   */
  async interrupted(session: SessionRef): Promise<StoredJob[]> {
    const listed = await this.#deps.openJobs.of(session);
    const known = new Set([...this.#unlisted, ...this.#all(session).map(({ spec }) => spec.id)]);
    return listed.filter(({ id }) => !known.has(id));
  }

  /** Those of them that no list has had. Each is returned once. */
  async takeInterrupted(session: SessionRef): Promise<StoredJob[]> {
    const all = await this.interrupted(session);
    const taken = all.filter(({ isListed }) => !isListed);
    if (taken.length === 0) return taken;
    const { openJobs } = this.#deps;
    await openJobs.setListed(taken.map(({ id }) => id));
    await openJobs.remove(all.slice(0, -ENDED_KEPT).map(({ id }) => id));
    return taken;
  }

  /** Stops the jobs of a session and forgets them. */
  async endSession(session: SessionRef): Promise<void> {
    const jobs = this.#all(session);
    await this.#stopAll(jobs);
    this.#jobs.delete(sessionKey(session));
    await this.#deps.openJobs.forget(session);
    this.findings.forget(session);
  }

  /** Stops the jobs of a branch. */
  async endBranch(session: SessionRef): Promise<void> {
    await this.#stopAll(this.of(session));
  }

  async #stopAll(jobs: readonly Job[]): Promise<void> {
    await Promise.all(jobs.map((job) => job.stop('session', GRACE_MS)));
    await Promise.all(jobs.map((job) => this.#records.get(job)));
  }

  /** Stops the jobs whose lease has expired. */
  async endLeases(): Promise<void> {
    await Promise.all(
      this.running()
        .filter(({ isLeaseOver }) => isLeaseOver)
        .map((job) => job.stop('lease', GRACE_MS)),
    );
  }

  /** Stops one job by its id, and waits for it. */
  async end(id: string, ender: Ender): Promise<void> {
    await this.running()
      .find(({ spec }) => spec.id === id)
      ?.stop(ender, GRACE_MS);
  }

  /** Records a refusal to a job, which the next answer of its session reports. */
  refused(id: string, denial: Denial): void {
    const job = this.running().find(({ spec }) => spec.id === id);
    if (job !== undefined) this.findings.addDenied(job.spec.session, [denial]);
  }

  #checkRoom(session: SessionRef): void {
    if (this.#isStopped) throw new ContextdError('INTERRUPTED', 'contextd is stopping and starts no jobs');
    const { per_session, total } = this.#deps.config.jobs;
    const own = this.#all(session).filter(({ end }) => end === null);
    const starting = [...this.#starting.values()].reduce((sum, count) => sum + count, 0);
    if (own.length + (this.#starting.get(sessionKey(session)) ?? 0) >= per_session) {
      const names = own.map(({ spec }) => `${spec.number} (${spec.command.slice(0, 40)})`).join(', ');
      throw new ContextdError('RESOURCE_LIMIT', `this session runs ${per_session} jobs already: ${names}`, {
        remedy: `Stop one: safe_jobs '{"action":"stop","job":${own[0]?.spec.number ?? 1}}'. A person can raise jobs.per_session.`,
        details: { limit: 'jobs.per_session' },
      });
    }
    if (this.running().length + starting < total) return;
    throw new ContextdError('RESOURCE_LIMIT', `${total} jobs run already in all sessions together`, {
      remedy: 'Stop one of your own, or ask a person: `ctxd ps` and `ctxd kill ID`, or a higher jobs.total.',
      details: { limit: 'jobs.total' },
    });
  }

  /** Counts a job as starting until it is listed. */
  async #counted(session: SessionRef, prepare: () => Promise<Job>): Promise<Job> {
    const key = sessionKey(session);
    const change = (by: 1 | -1): void => {
      const count = (this.#starting.get(key) ?? 0) + by;
      if (count > 0) this.#starting.set(key, count);
      else this.#starting.delete(key);
    };
    change(1);
    try {
      return await prepare();
    } finally {
      change(-1);
    }
  }

  /** Starts the command and lists the job. */
  async #prepare(request: NewJob): Promise<Job> {
    const { session, tool, command, cwd, isTerminal } = request;
    const number = await this.#deps.liveSessions.nextJob(session);
    const spec: JobSpec = {
      id: `job_${newShortId()}`,
      number,
      session,
      tool,
      command,
      cwd,
      isTerminal,
      startedMs: this.#deps.clock.now(),
    };
    const output = await JobOutput.create(
      {
        session,
        jobId: spec.id,
        tool: JOBS_TOOL,
        startedBy: tool,
        opened: request.opened,
        isTerminal,
        maxBytes: this.#deps.config.jobs.output_max_bytes,
      },
      this.#deps,
    );
    this.#unlisted.add(spec.id);
    try {
      // Fails closed: no audit record, no run.
      await recordStart(spec, output.artifactId, this.#deps);
      const job = this.#run(spec, request, output);
      this.#add(job);
      this.#recordLater(job);
      return job;
    } finally {
      this.#unlisted.delete(spec.id);
    }
  }

  #recordLater(job: Job): void {
    const recorded = this.#record(job);
    this.#records.set(job, recorded);
    void recorded.finally(() => this.#records.delete(job));
  }

  #run(spec: JobSpec, { policy, command, cwd, env, outputKillBytes }: NewJob, output: JobOutput): Job {
    const abort = new AbortController();
    const steered = this.#deps.sandbox.begin(
      policy,
      {
        argv: spec.isTerminal ? ['bash', '-c', command] : [...ONE_STREAM, 'bash', '-c', command],
        terminal: spec.isTerminal,
        cwd,
        env,
        timeoutMs: JOB_MAX_MS,
        // The output is captured here, not in the sandbox client.
        outputMaxBytes: 0,
        outputKillBytes,
        signal: abort.signal,
        run: { session: spec.session.session, requestId: spec.id },
        onOutput: (_stream, bytes) => output.add(bytes),
      },
      (found) => this.findings.add(spec.session, found),
    );
    return new Job(spec, steered, output, abort, this.#deps.clock);
  }

  #add(job: Job): void {
    this.#list(job);
    this.renew(job);
  }

  #list(job: Job): void {
    const key = sessionKey(job.spec.session);
    const jobs = [...(this.#jobs.get(key) ?? []), job];
    const ended = jobs.filter(({ end }) => end !== null);
    const forgotten = new Set(ended.slice(0, Math.max(0, ended.length - ENDED_KEPT)));
    this.#jobs.set(
      key,
      jobs.filter((one) => !forgotten.has(one)),
    );
  }

  #remove(job: Job): void {
    const key = sessionKey(job.spec.session);
    this.#jobs.set(
      key,
      (this.#jobs.get(key) ?? []).filter((one) => one !== job),
    );
  }

  async #record(job: Job): Promise<void> {
    const end = await job.ended;
    this.findings.add(job.spec.session, end.quarantined);
    this.findings.addDenied(job.spec.session, end.denied);
    try {
      const record = await recordEnd(job.spec, end, job.output, this.#deps);
      // The next daemon reports a job that ended with this one.
      if (!this.#isStopped || end.endedBy !== ENDED_WORDS.daemon) await this.#deps.openJobs.remove([job.spec.id]);
      const { text, artifactId: artifact } = job.output;
      const endedByItself = !Object.values<string>(ENDED_WORDS).includes(end.endedBy);
      const endedMs = this.#deps.clock.now();
      this.#deps.onJobEnded({ session: job.spec.session, record, endedByItself, endedMs, text, artifact });
    } catch (cause) {
      this.#deps.logger.error('job.unrecorded', { job: job.spec.id }, cause);
    }
    const { id: requestId, session } = job.spec;
    this.#deps.stored({ session, requestId, tool: JOBS_TOOL, artifactId: job.output.artifactId });
    job.output.release();
    this.#deps.logger.info('job.ended', { job: job.spec.id, ended_by: end.endedBy, exit_code: end.exitCode });
  }
}
