import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createBundleSource } from '#src/catalog/bundle-source.js';
import { createCatalog } from '#src/catalog/catalog.js';
import { readEnvironment } from '#src/config/env.js';
import { findInstallRoot } from '#src/config/install-root.js';
import { acceptConfig } from '#src/config/load.js';
import { ensureDirectories, resolvePaths } from '#src/config/paths.js';
import { systemClock, systemTimer } from '#src/core/clock.js';
import { newRequestId } from '#src/core/ids.js';
import type { JsonObject } from '#src/core/json.js';
import { silentLogger } from '#src/core/log.js';
import { compose } from '#src/daemon/compose.js';
import { startParts, stopParts } from '#src/daemon/lifecycle.js';
import { acceptance } from '#src/daemon/registered-projects.js';
import type { Door } from '#src/server/grpc.js';
import type { Answer } from './installation.ts';

export interface ToolDaemon {
  project: string;
  ask(tool: string, input: object): Promise<Answer>;
  close(): Promise<void>;
}

/**
 * The daemon as it is composed, without its door, and a project that accepted the tools in these folders with all that they
 * ask for.
 */
export async function openToolDaemon(dirs: readonly string[], settings: JsonObject = {}): Promise<ToolDaemon> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'ctxd-tools-')));
  const project = realpathSync(mkdtempSync(join(tmpdir(), 'ctxd-tools-project-')));
  const environment = { ...readEnvironment({ HOME: home }), contextdHome: join(home, 'ctx') };
  const paths = resolvePaths(environment, findInstallRoot());
  await ensureDirectories(paths);
  const { toolsDir } = paths;
  const catalog = createCatalog(
    dirs.map((dir) => createBundleSource({ bundleDir: bundleOf(dir, home), toolsDir, origin: 'installed' })),
  );
  const noDoor: Door = { name: 'no door', async prepare() {}, async start() {}, async stop() {} };
  const config = acceptConfig('test', { scrub: { gitleaks: 'off' }, ...settings });
  const { parts, built } = compose(
    { environment, paths, config, clock: systemClock, timer: systemTimer, logger: silentLogger, requestStop() {} },
    { door: noDoor, catalog },
  );
  await startParts(parts, silentLogger);
  await built.projects.register(project, catalog.list().map(acceptance));
  return {
    project,
    async ask(tool, input) {
      const { line } = await built.gate.dispatch({
        requestId: newRequestId(Date.now()),
        principal: { door: 'grpc', client: 'proxy' },
        tool,
        projectRoot: project,
        sessionHint: 'test',
        inputJson: Buffer.from(JSON.stringify(input)),
        inputText: null,
        form: 'json',
        cwd: project,
        signal: new AbortController().signal,
      });
      return JSON.parse(line) as Answer;
    },
    async close() {
      await stopParts(parts, silentLogger);
      for (const dir of [home, project]) rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The files of a tool as a bundle: beside them, in `tools/<name>`, what describes the tool. */
function bundleOf(dir: string, home: string): string {
  const bundle = join(home, 'bundles', basename(dir));
  const described = join(bundle, 'tools', basename(dir));
  cpSync(dir, bundle, { recursive: true });
  mkdirSync(described, { recursive: true });
  for (const file of ['tool.json', 'schema.json', 'TOOL.md', 'TOOL_EXTENDED.md'])
    cpSync(join(dir, file), join(described, file));
  return bundle;
}
