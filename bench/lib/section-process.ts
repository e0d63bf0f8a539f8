import { fork } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Account, homeFor } from './accounts.ts';
import { inheritedPath } from './machine.ts';
import { joinParts, NOTHING, type Outcome, type SectionOptions } from './section.ts';
import type { PartMessage } from './section-main.ts';

type Show = (part: Partial<Outcome>) => void;

/**
 * Runs one section in a new process under the given account. It starts in an empty directory, because sandbox-runtime
 * searches its working directory. If a section fails, the failure is reported and the other sections still run. `show` is
 * called with each part of the outcome as soon as it was measured.
 */
export async function runSection(
  name: string,
  account: Account,
  options: SectionOptions,
  show: Show,
): Promise<Outcome> {
  const home = homeFor(account);
  let outcome = NOTHING;
  const add: Show = (part) => {
    outcome = joinParts(outcome, part);
    show(part);
  };
  try {
    await ask(name, account, home, { options, add });
    return outcome;
  } catch (cause) {
    add({ facts: [{ name: `the section failed: ${cause}`, value: '' }] });
    return outcome;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

interface Asked {
  options: SectionOptions;
  add: Show;
}

function ask(name: string, account: Account, home: string, { options, add }: Asked): Promise<void> {
  const program = fileURLToPath(new URL('./section-main.js', import.meta.url));
  const child = fork(program, [name, JSON.stringify(options)], {
    cwd: home,
    env: { PATH: inheritedPath(), HOME: home, ...libraryPath() },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    ...(account.uid === null ? {} : { uid: account.uid, gid: account.uid }),
  });
  return new Promise((resolve, reject) => {
    let isDone = false;
    child.on('message', ({ part, isLast }: PartMessage) => {
      add(part);
      isDone = isLast;
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (isDone) resolve();
      else reject(new Error(`it ended with ${code ?? signal} and no result`));
    });
  });
}

/** The programs to compare with may need libraries from the user's own path. */
function libraryPath(): Record<string, string> {
  const path = process.env.LD_LIBRARY_PATH;
  return path === undefined ? {} : { LD_LIBRARY_PATH: path };
}
