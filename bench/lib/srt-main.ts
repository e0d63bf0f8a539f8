import { pathToFileURL } from 'node:url';
import { serveHelper } from './helper.ts';
import { runProcess } from './measure.ts';
import { peerModule } from './peers.ts';

/** The part of sandbox-runtime's interface that the benchmark uses. */
interface SandboxManager {
  initialize(config: object): Promise<void>;
  wrapWithSandbox(command: string): Promise<string>;
  cleanupAfterCommand(): void;
}

/** The documented use: initialize once, then wrap, spawn and clean up for each command. Only file access is allowed. */
const CONFIG = {
  network: { allowedDomains: [], deniedDomains: [] },
  filesystem: { denyRead: [], allowWrite: ['.'], denyWrite: [] },
};

/** The program of the process that hosts sandbox-runtime: the library keeps one policy per process. */
async function main(): Promise<void> {
  const module = await import(pathToFileURL(peerModule('srt', 'dist/index.js')).href);
  const manager: SandboxManager = module.SandboxManager;
  await manager.initialize(CONFIG);
  serveHelper<string>(async (command) => {
    await runProcess('bash', ['-c', await manager.wrapWithSandbox(command)]);
    manager.cleanupAfterCommand();
  });
}

await main();
