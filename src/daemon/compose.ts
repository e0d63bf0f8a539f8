import { fileURLToPath } from 'node:url';
import { parseSessionKey } from '../call/session.ts';
import { createCatalog } from '../catalog/catalog.ts';
import type { Environment } from '../config/env.ts';
import type { Paths } from '../config/paths.ts';
import type { Config } from '../config/schema.ts';
import type { Clock } from '../core/clock.ts';
import type { Logger } from '../core/log.ts';
import { createDispatch } from '../dispatch/dispatch.ts';
import { createRefuse } from '../dispatch/refuse.ts';
import { createSlots } from '../dispatch/slots.ts';
import { createViewMaker } from '../dispatch/view/run-view.ts';
import { createRunner } from '../runner/create-runner.ts';
import { createSandbox } from '../sandbox/create-sandbox.ts';
import { baseView } from '../sandbox/sandbox.ts';
import { type RuleFile, readRulePack } from '../scrub/exact/rule-pack.ts';
import { createEngine, deferEngine } from '../scrub/hardened/engine.ts';
import { type RuleSources, readRuleSources } from '../scrub/rule-sources.ts';
import { createScanner } from '../scrub/scan/scanner.ts';
import { createScrubber } from '../scrub/scrubber.ts';
import { createSeeds, type Seeds } from '../scrub/vault/seeds.ts';
import { createWorkspaceRules } from '../scrub/workspace-rules.ts';
import { createGrpcDoor } from '../server/grpc.ts';
import { createArtifactStore } from '../stores/artifacts.ts';
import { createAuditLog } from '../stores/audit.ts';
import { createCursors } from '../stores/cursors.ts';
import { createJournal } from '../stores/journal.ts';
import { createDaemonKeys } from '../stores/keys.ts';
import { createProjectStore } from '../stores/projects.ts';
import { createRuleApprovals } from '../stores/rule-approvals.ts';
import { createSessionStore } from '../stores/sessions.ts';
import { createDatabase } from '../stores/sqlite.ts';
import { loadCounter, type TokenCounter } from '../tokens/counter.ts';
import { lastErrorBlock } from '../tokens/views/errors.ts';
import { createArtifactView } from './artifact-view.ts';
import { createCallGate } from './call-gate.ts';
import { followInstallation } from './core-acceptance.ts';
import { checkHealth } from './health.ts';
import { type Composition, inOrder, type Part, together } from './lifecycle.ts';
import { warnOfBadLinks } from './link-check.ts';
import { createManagement } from './management.ts';
import { collectMainHeap, createMemoryKeeper } from './memory-keeper.ts';
import { policyFor, viewOf } from './policy.ts';
import { createStandingAuditor } from './standing-auditor.ts';
import type { StopCause } from './stop-request.ts';

export interface ComposeDeps {
  environment: Environment;
  paths: Paths;
  config: Config;
  clock: Clock;
  logger: Logger;
  /** Begins the orderly end of the daemon, with so many milliseconds for calls in flight. */
  requestStop(graceMs: number, cause: StopCause): void;
}

/** Hourly: artifacts past their age or over their quota go. */
const PRUNE_EVERY_MS = 60 * 60 * 1000;

/** Every part of the daemon, built once. The only place that sees all of them; parts start in the order of the list. */
export function compose({ environment, paths, config, clock, logger, requestStop }: ComposeDeps): Composition {
  const database = createDatabase({ file: paths.stateDb, logger, onFailure: () => requestStop(0, 'failure') });
  const keys = createDaemonKeys({ database });
  const projects = createProjectStore({ database, clock });
  const sessions = createSessionStore({ database, keys, clock });
  const journal = createJournal({ database, clock });
  const artifacts = createArtifactStore({
    database,
    keys,
    dir: paths.artifactsDir,
    limits: config.artifacts,
    clock,
    logger,
  });
  const auditLog = createAuditLog({ dir: paths.auditDir, clock, logger });
  const cursors = createCursors(sessions);
  const catalog = createCatalog({ coreBundleDir: paths.coreBundleDir, toolsDir: paths.toolsDir });
  const sandbox = createSandbox({ paths, config: config.sandbox, logger, clock });
  const places = { gitleaksDir: paths.gitleaksDir, searchPath: environment.path, home: environment.home };
  const approvals = createRuleApprovals({ database, clock });
  const workspaceRules = createWorkspaceRules({
    isApproved: (root, sha256) => approvals.isApproved(root, sha256),
    onFault: (project, problem) => logger.warn('scrub.workspace_rules_invalid', { project, problem }),
  });
  const seeds = config.scrub.seeds ? seedsOf({ environment, projects, clock, logger }) : null;
  let official: RuleFile | null = null;
  const readRules = async (): Promise<RuleSources> => {
    const sources = await readRuleSources(places);
    official = sources.official;
    return sources;
  };
  const scanner = createScanner({ config: config.scrub, logger, readRules });
  const scrubber = createScrubber({
    scanner,
    engine: maskEngine(() => official),
    numbers: sessions,
    workspaceRules: async (sessionKey) => {
      const root = (await projects.find(parseSessionKey(sessionKey).project))?.root;
      return root === undefined ? null : workspaceRules.read(root);
    },
    ...(seeds === null ? {} : { seeds }),
    logger,
    clock,
  });
  const runner = createRunner({
    sandbox,
    policyFor: (session) => policyFor(viewOf(session), config.sandbox),
    privateSocketsDir: paths.dialledSocketsDir,
    scrub: async (sessionKey, texts) => (await scrubber.scrub(sessionKey, [...texts])).value,
    services: { ArtifactView: createArtifactView(artifacts) },
    logger,
    clock,
  });
  const auditor = createStandingAuditor({
    use: config.scrub.gitleaks,
    places,
    paths,
    scrubber,
    artifacts,
    auditLog,
    clock,
    logger,
  });
  const counter = loadCounter();
  const refuse = createRefuse({ auditLog, catalog, scrubber, counter, clock, logger });
  const gate = createCallGate(
    createDispatch({
      catalog,
      projects,
      sandbox,
      runner,
      sessions,
      scrubber,
      secondSearch: auditor,
      artifacts,
      cursors,
      counter,
      views: createViewMaker(),
      auditLog,
      journal,
      limits: config,
      config,
      slots: createSlots(config.server.max_concurrent_calls),
      clock,
      logger,
    }),
    refuse,
  );
  const management = createManagement({
    home: environment.home,
    paths,
    catalog,
    projects,
    auditLog,
    sandbox,
    gate,
    scrubber,
    rules: { projects, workspaceRules, approvals },
    quarantine: { projects, sandbox, policyFor: (root) => policyFor(baseView(root), config.sandbox) },
    clock,
    checkHealth: (projectRoot) =>
      checkHealth(projectRoot, {
        auditor,
        catalog,
        config,
        sandbox,
        scrubber,
        counter,
        database,
        auditLog,
        seeds,
        projects,
        workspaceRules,
        installRoot: paths.installRoot,
      }),
    requestStop: (graceMs, cause) => requestStop(graceMs === 0 ? config.server.drain_ms : graceMs, cause),
  });
  const grpc = createGrpcDoor({
    paths,
    dispatch: gate.dispatch,
    refuse,
    management,
    mask: (text) => scrubber.maskText(text),
    clock,
    logger,
  });
  const stores: Part = {
    name: 'stores',
    async start() {
      await database.start();
      await keys.start();
      await Promise.all([projects.start(), approvals.start(), artifacts.start(), auditLog.start()]);
      // The log first: calls that the journal closes are never looked at again.
      await auditLog.endInterrupted(await journal.open(), (text) => scrubber.maskText(text));
      await journal.start();
    },
    async stop() {
      await auditLog.stop();
      await artifacts.stop();
      await database.stop();
    },
  };
  const door: Part = { name: 'door', start: () => grpc.prepare(), async stop() {} };
  const acceptance: Part = {
    name: 'acceptance',
    async start() {
      await followInstallation(catalog, projects, logger);
      await warnOfBadLinks(await projects.list(), paths.proxyBinary, logger);
    },
    async stop() {},
  };
  return {
    parts: [
      // The state database is the lock of the one daemon: until it is held, nothing may touch a file of the home.
      together([
        named('scrubber', scrubber),
        { name: 'spawner', start: () => sandbox.launch(), async stop() {} },
        warmUp(counter),
        inOrder([stores, together([named('catalog', catalog), named('sandbox', sandbox), door])]),
      ]),
      acceptance,
      named('runner', runner),
      auditor,
      pruner(() => artifacts.prune(), logger),
      createMemoryKeeper({ gate, collectors: [collectMainHeap, () => scanner.collect()] }),
      grpc,
    ],
    drain: (graceMs, cause) => gate.drain(graceMs, cause),
    mask: (text) => scrubber.maskText(text),
    maskLater: (texts) => scrubber.maskTexts(texts),
  };
}

/** A project's files are read for its own sessions, and only once a person registered it. */
function seedsOf(
  deps: Pick<ComposeDeps, 'environment' | 'clock' | 'logger'> & { projects: ReturnType<typeof createProjectStore> },
): Seeds {
  const { environment, projects, clock, logger } = deps;
  return createSeeds({
    home: environment.home,
    variables: environment.secretVariables,
    projectOf: async (sessionKey) => (await projects.find(parseSessionKey(sessionKey).project))?.root ?? null,
    clock,
    logger,
  });
}

/** For log lines and refusals; rarely used, so its rules are read and compiled only then. */
function maskEngine(official: () => RuleFile | null): ReturnType<typeof deferEngine> {
  const rules = fileURLToPath(new URL('../scrub/rules', import.meta.url));
  return deferEngine(() => createEngine(readRulePack(rules), { compile: 'when used', official: official() }));
}

function named(name: string, part: Pick<Part, 'start' | 'stop'>): Part {
  return { name, start: () => part.start(), stop: () => part.stop() };
}

/** Compiles what answers are made with, while the search thread starts: the first call shall not wait for it. */
function warmUp(counter: TokenCounter): Part {
  return {
    name: 'answers',
    async start() {
      counter.count('error: one of each kind 123 ünï\n');
      lastErrorBlock('error: something failed\n', 100);
    },
    async stop() {},
  };
}

function pruner(prune: () => Promise<number>, logger: Logger): Part {
  let timer: NodeJS.Timeout | undefined;
  const once = (): void => {
    prune().catch((cause: unknown) => logger.error('artifacts.prune_failed', {}, cause));
  };
  return {
    name: 'pruner',
    async start() {
      timer = setInterval(once, PRUNE_EVERY_MS).unref();
    },
    async stop() {
      clearInterval(timer);
    },
  };
}
