import { fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Account, homeFor } from './accounts.ts';
import { inheritedPath } from './machine.ts';
import type { Outcome, SectionOptions } from './section.ts';

/**
 * Runs one section in a new process under the given account. It starts in an empty directory, because sandbox-runtime
 * searches its working directory. If a section fails, the failure is reported and the other sections still run.
 */
export async function runSection(name: string, account: Account, options: SectionOptions): Promise<Outcome> {
  const home = homeFor(account);
  try {
    return await ask(name, account, home, options);
  } catch (cause) {
    return { tables: [], facts: [{ name: `the section failed: ${cause}`, value: '' }] };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function ask(name: string, account: Account, home: string, options: SectionOptions): Promise<Outcome> {
  const program = fileURLToPath(new URL('./section-main.js', import.meta.url));
  const child = fork(program, [name, JSON.stringify(options)], {
    cwd: home,
    env: { PATH: inheritedPath(), HOME: home, ...libraryPath() },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    ...(account.uid === null ? {} : { uid: account.uid, gid: account.uid }),
  });
  return new Promise((resolve, reject) => {
    let outcome: Outcome | null = null;
    child.on('message', (message: Outcome) => {
      outcome = message;
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (outcome !== null) resolve(outcome);
      else reject(new Error(`it ended with ${code ?? signal} and no result`));
    });
  });
}

/** The programs to compare with may need libraries from the user's own path. */
function libraryPath(): Record<string, string> {
  const path = process.env.LD_LIBRARY_PATH;
  return path === undefined ? {} : { LD_LIBRARY_PATH: path };
}
