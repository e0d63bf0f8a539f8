import { createHash } from 'node:crypto';
import type { Catalog } from '../../catalog/catalog.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import type { Logger } from '../../core/log.ts';
import { PACKAGE_VERSION } from '../../protocol/versions.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { ProjectStore } from '../../stores/projects.ts';
import type { Database } from '../../stores/sqlite.ts';
import type { TokenCounter } from '../../tokens/counter.ts';
import type { Branches } from '../branches/branches.ts';
import type { Versions } from './checkpoint.ts';
import { CheckpointFiles, type CheckpointFilesDeps } from './checkpoint-files.ts';
import { CheckpointStore } from './checkpoint-store.ts';
import { Checkpoints, type CheckpointsDeps } from './checkpoints.ts';

/** The share of `artifacts.max_bytes` that checkpoints may keep from being pruned. */
const PINNED_SHARE = 0.25;

interface Parts {
  database: Database;
  eventLog: CheckpointsDeps['eventLog'];
  contexts: CheckpointsDeps['contexts'];
  counter: TokenCounter;
  scrubber: Pick<Scrubber, 'issuedIn' | 'scrub'>;
  undo: CheckpointFilesDeps['undo'];
  branches: Pick<Branches, 'layersOf'>;
  projects: Pick<ProjectStore, 'find'>;
  catalog: Pick<Catalog, 'versions'>;
  config: Config;
  clock: Clock;
  logger: Logger;
}

export function buildCheckpoints({
  database,
  eventLog,
  contexts,
  counter,
  scrubber,
  undo,
  branches,
  projects,
  catalog,
  config,
  clock,
  logger,
}: Parts): Checkpoints {
  const configHash = createHash('sha256').update(JSON.stringify(config)).digest('hex').slice(0, 12);
  return new Checkpoints({
    store: new CheckpointStore({ database, pinMaxBytes: Math.floor(config.artifacts.max_bytes * PINNED_SHARE) }),
    eventLog,
    contexts,
    clock,
    logger,
    files: new CheckpointFiles({
      undo,
      isEnabled: config.undo.enabled,
      hasOwnFiles: (session) => branches.layersOf(session) !== null,
      mask: async (session, texts) => (await scrubber.scrub(session, [...texts])).value,
    }),
    countTokens: (text) => counter.count(text),
    issuedIn: (session, text) => scrubber.issuedIn(session, text),
    async versions(root): Promise<Versions> {
      const accepted = (await projects.find(root))?.tools ?? [];
      const tools = accepted.map(({ name, bundleSha256 }): [string, string] => {
        const tool = catalog.versions(name).find((one) => one.sha256 === bundleSha256);
        return [name, tool?.manifest.version ?? ''];
      });
      return { contextd: PACKAGE_VERSION, config: configHash, tools: Object.fromEntries(tools) };
    },
  });
}
