import { pathToFileURL } from 'node:url';
import { serveHelper } from './helper.ts';
import { runProcess } from './measure.ts';
import { peerModule } from './peers.ts';

/** What is used of sandbox-runtime. */
interface SandboxManager {
  initialize(config: object): Promise<void>;
  wrapWithSandbox(command: string): Promise<string>;
  cleanupAfterCommand(): void;
}

/** Its documented use: initialized once, then wrap, spawn and clean up for each command. Nothing but files is allowed. */
const CONFIG = {
  network: { allowedDomains: [], deniedDomains: [] },
  filesystem: { denyRead: [], allowWrite: ['.'], denyWrite: [] },
};

/** Program of the process that hosts sandbox-runtime's library: it keeps one policy for a whole process. */
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
