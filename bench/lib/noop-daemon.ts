import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from '../../src/config/env.ts';
import { ensureDirectories, resolvePaths } from '../../src/config/paths.ts';
import { systemClock } from '../../src/core/clock.ts';
import { silentLogger } from '../../src/core/log.ts';
import { createGrpcDoor } from '../../src/doors/grpc/grpc.ts';
import type { Management } from '../../src/protocol/management-contract.ts';
import { rpcMethods } from '../../src/protocol/management-rpcs.ts';
import { type BenchInstallation, inheritedPath } from './machine.ts';

/** The real door with nothing behind it: what is left is the proxy's own share. */
export async function startNoopDaemon(at: BenchInstallation): Promise<{
  project: string;
  env: Record<string, string>;
  stop(): Promise<void>;
}> {
  const home = mkdtempSync(join(tmpdir(), 'ctxn-'));
  const project = mkdtempSync(join(tmpdir(), 'noop-'));
  const link = join(project, '.claude/tools/safe_bash/safe_bash');
  mkdirSync(join(link, '..'), { recursive: true });
  symlinkSync(join(at.root, 'bin/contextd-proxy'), link);
  const paths = resolvePaths({ ...readEnvironment(), contextdHome: home }, at.root);
  await ensureDirectories(paths);
  const door = createGrpcDoor({
    paths,
    dispatch: async () => ({ line: '{}', exitCode: 0, errorLine: '' }),
    refuse: () => ({ line: '{}', exitCode: 1, errorLine: 'refused' }),
    management: NO_MANAGEMENT,
    passing: { request: nothing, closeClient: nothing, follow: () => () => {} },
    answerHook: async () => null,
    mask: (text) => text,
    clock: systemClock,
    logger: silentLogger,
  });
  await door.start();
  return {
    project,
    env: { PATH: inheritedPath(), HOME: home, CONTEXTD_HOME: home },
    async stop() {
      await door.stop();
      rmSync(home, { recursive: true, force: true });
      rmSync(project, { recursive: true, force: true });
    },
  };
}

const nothing = async (): Promise<never> => {
  throw new Error('the benchmark asks for nothing but calls');
};

const NO_MANAGEMENT: Management = {
  ...rpcMethods(() => nothing),
  installTool: nothing,
  getSchema: nothing,
  watchTools: nothing,
};
