import type { SetAside } from '../../core/envelope.ts';
import { unpackError } from '../../core/wire-error.ts';
import type { EgressCommand } from '../../egress/messages.ts';
import type { QuarantineAction, QuarantineReport, QuarantineResult } from '../../guard/contract/quarantine.ts';
import type { CommandResult, CommandSpec, SteeredCommand } from '../contract/command.ts';
import type { MergeRequest, ReplyOf } from '../contract/merge-messages.ts';
import type { LayerAbility, LayerKind } from '../contract/mounted.ts';
import type { SandboxPolicy } from '../contract/policy.ts';
import type {
  IsolationReport,
  MergeResult,
  ProjectCaches,
  RestoreResult,
  Sandbox,
  SandboxDeps,
  SandboxProcess,
  SandboxProgram,
  SandboxStatus,
  StorageAction,
} from '../contract/sandbox.ts';
import type { RestoreItem, SnapshotReply, SnapshotRequest } from '../contract/snapshot-messages.ts';
import type { Reply } from '../contract/spawner-messages.ts';
import { Commands } from './commands.ts';
import { EgressRelay } from './egress-relay.ts';
import { Inheritance } from './inheritance.ts';
import { Programs } from './programs.ts';
import { type Running, SpawnerConnection } from './spawner-connection.ts';

const ISOLATION_FRESH_MS = 5_000;

/** The daemon's client of the spawner process: what a sandbox can do, as requests to it. `launch` starts the spawner. */
export class SpawnedSandbox implements Sandbox {
  readonly #deps: SandboxDeps;
  readonly #connection: SpawnerConnection;
  readonly #commands: Commands;
  readonly #programs: Programs;
  readonly #relay: EgressRelay;
  readonly #isolation = new Map<string, { askedAt: number; report: Promise<IsolationReport> }>();
  readonly heritage: Inheritance;

  constructor(deps: SandboxDeps) {
    const { paths, config, logger } = deps;
    this.#deps = deps;
    this.#relay = new EgressRelay(deps);
    const connection = new SpawnerConnection({
      settings: { paths, config },
      link: () => this.heritage.link,
      onReply: (running, reply, body) => this.#receive(running, reply, body),
      onLost: () => {
        this.heritage.spawnerLost();
        this.#programs.lost();
      },
      logger,
    });
    const commands = new Commands({
      connection,
      began: (id, run) => this.heritage.began(id, run),
      ended: (id) => this.#relay.ended(id),
      onSandboxTaken: deps.onSandboxTaken,
    });
    const programs = new Programs(connection);
    this.#connection = connection;
    this.#commands = commands;
    this.#programs = programs;
    this.heritage = new Inheritance({
      relay: this.#relay,
      own: () => [
        ...commands.ids.map((id) => [id, 'run'] as const),
        ...programs.ids.map((id) => [id, 'open'] as const),
      ],
      isEnding: () => commands.isEnding,
      isTaken: (id) => commands.has(id),
      running: () => connection.running,
      isBusy: () => (connection.running?.channel.pendingCount ?? 0) > 0,
      start: (spawner, firstId) => connection.adopt(spawner, firstId),
      receive: (reply, body) => void (connection.running !== null && this.#receive(connection.running, reply, body)),
      lost: () => void (connection.running !== null && connection.lost(connection.running, '')),
      renew: () => connection.renew(),
      drop: (runs) => commands.drop(runs),
      resume: (run, onFound, hasEnded) => commands.resume(run, onFound, hasEnded),
      stillAllowed: deps.stillAllowed ?? ((policy) => policy),
      logger,
    });
  }

  /** Starts the spawner, which does not touch contextd's home directory before `start`. */
  async launch(): Promise<void> {
    this.#connection.launch();
  }

  /** Probes in the background: the first command waits for the result, the daemon's start does not. */
  async start(): Promise<void> {
    this.#connection.reopen();
    const { logger } = this.#deps;
    this.probe().then(
      ({ level, version, missing }) => logger.info('sandbox.ready', { level, version, missing }),
      (cause: unknown) => logger.error('sandbox.not_ready', {}, cause),
    );
  }

  stop(): Promise<void> {
    return this.#connection.stop();
  }

  probe(): Promise<IsolationReport> {
    return this.#connection.ask<IsolationReport>({ op: 'probe' });
  }

  /** Cached for some seconds: the spawner checks again for every sandbox it starts. */
  isolationFor(workspace: string): Promise<IsolationReport> {
    const now = this.#deps.clock.monotonic();
    const known = this.#isolation.get(workspace);
    if (known !== undefined && now - known.askedAt < ISOLATION_FRESH_MS) return known.report;
    const report = this.#connection.ask<IsolationReport>({ op: 'isolation', workspace });
    this.#isolation.set(workspace, { askedAt: now, report });
    report.catch(() => this.#isolation.delete(workspace));
    return report;
  }

  async status(): Promise<SandboxStatus> {
    return this.#connection.ask<SandboxStatus>({ op: 'status' });
  }

  tellEgress(command: EgressCommand): void {
    if (!this.#connection.isStopping && !this.heritage.hasLeft)
      this.#connection.ready().spawner.send({ op: 'egress', command });
  }

  run(policy: SandboxPolicy, command: CommandSpec): Promise<CommandResult> {
    return this.#commands.run(policy, command);
  }

  begin(
    policy: SandboxPolicy,
    command: Omit<CommandSpec, 'stdin'>,
    onFound: (found: readonly SetAside[]) => void,
  ): SteeredCommand {
    return this.#commands.begin(policy, command, onFound);
  }

  open(policy: SandboxPolicy, program: SandboxProgram): Promise<SandboxProcess> {
    return this.#programs.open(policy, program);
  }

  async watch(policy: SandboxPolicy): Promise<{ finish(): Promise<QuarantineReport> }> {
    const { id, result } = this.#connection.request({ op: 'watch', policy });
    await result;
    return { finish: () => this.#connection.ask<QuarantineReport>({ op: 'finish_watch', watchId: id }) };
  }

  quarantine(policy: SandboxPolicy, action: QuarantineAction): Promise<QuarantineResult> {
    return this.#connection.ask<QuarantineResult>({ op: 'quarantine', policy, action });
  }

  storage(action: StorageAction): Promise<readonly ProjectCaches[]> {
    return this.#connection.ask<readonly ProjectCaches[]>({ op: 'storage', action });
  }

  snapshot(workspace: string, request: SnapshotRequest | { readonly do: 'drop' }): Promise<SnapshotReply | null> {
    return this.#connection.ask<SnapshotReply | null>({ op: 'snapshot', workspace, request });
  }

  async restore(policy: SandboxPolicy, items: readonly RestoreItem[]): Promise<RestoreResult> {
    const { result } = this.#connection.request({ op: 'restore', policy }, Buffer.from(JSON.stringify(items)));
    return result as Promise<RestoreResult>;
  }

  createLayer(policy: SandboxPolicy): Promise<LayerKind> {
    return this.#connection.ask<LayerKind>({ op: 'create_layer', policy });
  }

  layerAbility(workspace: string): Promise<LayerAbility> {
    return this.#connection.ask<LayerAbility>({ op: 'layer_ability', workspace });
  }

  async removeLayer(project: string, branch: string): Promise<void> {
    await this.#connection.ask({ op: 'remove_layer', project, branch });
  }

  async keepLayers(live: readonly { readonly project: string; readonly branch: string }[]): Promise<void> {
    await this.#connection.ask({ op: 'keep_layers', live });
  }

  async merge<R extends MergeRequest>(
    policy: SandboxPolicy,
    branch: string | null,
    request: R,
  ): Promise<MergeResult<ReplyOf<R>>> {
    const { result } = this.#connection.request({ op: 'merge', policy, branch }, Buffer.from(JSON.stringify(request)));
    const { output, quarantined } = (await result) as { output: string; quarantined: readonly SetAside[] };
    return { reply: JSON.parse(output), quarantined };
  }

  #receive({ spawner, channel }: Running, reply: Reply, body: Buffer): void {
    if (this.heritage.returned(reply, body)) return;
    switch (reply.re) {
      case 'ok':
        channel.resolve(reply.id, reply.result);
        break;
      case 'error':
        this.#programs.failed(reply.id);
        channel.reject(reply.id, unpackError(reply.error));
        break;
      case 'out':
        this.#commands.output(reply.id, reply.stream, body);
        this.#programs.output(reply.id, reply.stream, body);
        break;
      case 'started':
        this.#commands.started(reply.id);
        break;
      case 'found':
        this.#commands.found(reply.id, reply.found);
        break;
      case 'stale':
        this.#programs.stale(reply.id);
        break;
      case 'exit':
        this.#programs.ended(reply.id, { code: reply.code, signal: reply.signal });
        break;
      case 'egress':
        this.#relay.report(reply);
        break;
      case 'egress_ready':
        void this.#relay.tellAll(reply, (request) => spawner.send(request));
        break;
      case 'log':
        this.#deps.logger[reply.level](reply.event, reply.fields);
        break;
    }
  }
}
