import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { promisify } from 'node:util';
import type { BubblewrapFeatures } from '../policy.ts';
import { type Bubblewrap, isAccessible } from './facts.ts';

/** Where bubblewrap is looked for; never on the caller's PATH, which a project may steer. */
const BUBBLEWRAP_PLACES = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap', '/run/current-system/sw/bin/bwrap'];

/** The installed bubblewrap, or null. */
export async function findBubblewrap(places: readonly string[] = BUBBLEWRAP_PLACES): Promise<Bubblewrap | null> {
  const path = places.find((place) => isAccessible(place, constants.X_OK));
  if (path === undefined) return null;
  const options = { env: { PATH: '/usr/bin:/bin' }, timeout: 5000 };
  const [version, help] = await Promise.all(
    ['--version', '--help'].map(async (flag) => (await promisify(execFile)(path, [flag], options)).stdout),
  );
  return { path, version: version?.trim().replace(/^bubblewrap /, '') ?? '', features: readFeatures(help ?? '') };
}

export function readFeatures(help: string): BubblewrapFeatures {
  return { disableUserns: help.includes('--disable-userns'), bindFd: help.includes('--ro-bind-fd') };
}
