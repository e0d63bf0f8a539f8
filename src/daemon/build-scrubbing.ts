import type { SessionRef } from '../call/session.ts';
import { secretsIn } from '../config/env.ts';
import { createStandingAuditor } from '../features/secrets/standing-auditor.ts';
import { judgedBy } from '../scrub/gitleaks/judged.ts';
import { createEngine, deferEngine } from '../scrub/hardened/engine.ts';
import { readRuleSources } from '../scrub/rule-sources.ts';
import { createScanner, type Scanner } from '../scrub/scan/scanner.ts';
import { createScrubber } from '../scrub/session-scrubber.ts';
import { strongRules } from '../scrub/strong-rules.ts';
import { Allowance } from '../scrub/vault/allowance.ts';
import { createSeeds, type Seeds } from '../scrub/vault/seeds.ts';
import { createWorkspaceRules } from '../scrub/workspace-rules.ts';
import type { Stores } from './build-stores.ts';
import type { ComposeDeps } from './compose-deps.ts';

export type Scrubbing = ReturnType<typeof buildScrubbing>;

/** Builds the search for secrets and their masking. */
export function buildScrubbing(deps: ComposeDeps, stores: Stores) {
  const { environment, paths, config, clock, timer, logger } = deps;
  const { consents, sessions, artifacts, auditLog } = stores;
  const places = { directories: [paths.gitleaksDir, paths.userGitleaksDir], searchPath: environment.path };
  const rootOf = async (session: SessionRef): Promise<string | null> =>
    (await stores.projects.find(session.project))?.root ?? null;
  const workspaceRules = createWorkspaceRules({
    isApproved: (root, sha256) => consents.has(root, 'rules', sha256),
    onFault: (project, problem) => logger.warn('scrub.workspace_rules_invalid', { project, problem }),
  });
  const scanner = createScanner({ config: config.scrub, logger, readRules: async () => readRuleSources() });
  const seeds = config.scrub.seeds ? seedsOf(deps, rootOf, scanner) : null;
  const isStrong = strongRules(readRuleSources);
  const scrubber = createScrubber({
    scanner,
    engine: maskEngine(),
    numbers: sessions,
    recalled: { memory: stores.secretNumbers, isStrong },
    workspaceRules: async (session) => {
      const root = await rootOf(session);
      return root === null ? null : workspaceRules.read(root);
    },
    seeds: stores.networkCredentials.withSeeds(stores.upstreamMasks.withSeeds(seeds)),
    allowed: ({ project }) => {
      const forms = stores.allowedValues.formsFor(project);
      return forms === null ? null : new Allowance(stores.keys.derive('allowed'), forms);
    },
    logger,
    clock,
  });
  const use = config.scrub.gitleaks;
  const isSecret = judgedBy(isStrong);
  const auditor = createStandingAuditor({
    ...{ use, places, paths, scrubber, isSecret, artifacts, auditLog, clock, timer, logger },
  });
  return { workspaceRules, seeds, scanner, scrubber, auditor };
}

/** Reads a project's files for its own sessions only, and only once a person registered the project. */
function seedsOf(
  { environment, config, clock, logger }: ComposeDeps,
  projectOf: (session: SessionRef) => Promise<string | null>,
  scanner: Scanner,
): Seeds {
  const { home, secretVariables } = environment;
  const variables = [...secretVariables, ...secretsIn(config.tools.env)];
  const envValues = (texts: readonly string[]): Promise<string[][]> => scanner.envValues(texts);
  return createSeeds({ home, variables, projectOf, envValues, clock, logger });
}

/** For log lines and refusals. Rarely used, so its rules are read and compiled on first use. */
function maskEngine(): ReturnType<typeof deferEngine> {
  return deferEngine(() => {
    const { pack, official } = readRuleSources();
    return createEngine(pack, { compile: 'when used', official });
  });
}
