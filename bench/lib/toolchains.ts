import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import { inheritedPath } from './machine.ts';
import { runProcess } from './measure.ts';

/** Directories of toolchains; each throws if its programs are not there. */
export const goRoot = async (): Promise<string> => (await ask('go', 'env', 'GOROOT')).trim();

export const rustRoot = async (): Promise<string> => (await ask('rustc', '--print', 'sysroot')).trim();

export const npmRoot = async (): Promise<string> => dirname(dirname((await ask('sh', '-c', 'command -v npm')).trim()));

/** Of Maven and the JDK of the system. */
export const javaHome = async (): Promise<string> => {
  await ask('mvn', '-v');
  return '/usr';
};

/** Null if it is not on this machine, or this account cannot use it. */
export async function findToolchain(toolchain: () => Promise<string>): Promise<string | null> {
  return toolchain().catch(() => null);
}

/** Shims such as rustup's look for their toolchains in the account's own home. */
export async function ask(program: string, ...args: readonly string[]): Promise<string> {
  return runProcess(program, args, { env: { PATH: inheritedPath(), HOME: userInfo().homedir } });
}
