import { dirname, join, resolve } from 'node:path';
import {
  type ClientFindings,
  configHome,
  Findings,
  parseIni,
  type Surroundings,
  unquote,
  variableOf,
} from './surroundings.ts';

const NPM_DEFAULT = /^https:\/\/registry\.npmjs\.org\/?$/;
const YARN_DEFAULT = /^https:\/\/registry\.(?:yarnpkg\.com|npmjs\.org)\/?$/;

/** npm, pnpm and bun read the same settings. */
export function findNpm(at: Surroundings): ClientFindings[] {
  const places = [
    variableOf(at, 'npm_config_userconfig') ?? join(at.home, '.npmrc'),
    join(configHome(at), 'pnpm/rc'),
    variableOf(at, 'npm_config_globalconfig') ?? join(at.root, 'etc/npmrc'),
    join(at.root, 'usr/etc/npmrc'),
    join(at.root, 'usr/local/etc/npmrc'),
  ];
  const files = places.flatMap((path) => {
    const text = at.readText(path);
    return text === null ? [] : [npmFile(path, parseIni(text).get('') ?? new Map())];
  });
  return [npmVariables(at), ...files];
}

function npmVariables(at: Surroundings): ClientFindings {
  const found = new Findings('npm', 'the environment');
  for (const [name, value] of Object.entries(at.variables)) {
    const [, key] = /^npm_config_((?:@[^:]+:)?registry)$/i.exec(name) ?? [];
    if (key !== undefined) found.addUrl(key.toLowerCase(), value, (url) => NPM_DEFAULT.test(url));
  }
  return found;
}

function npmFile(path: string, settings: ReadonlyMap<string, readonly string[]>): ClientFindings {
  const found = new Findings('npm', path);
  for (const [key, values] of settings) {
    const value = values.at(-1) ?? '';
    if (value.includes('${')) {
      if (isOfInterest(key)) found.note(key, 'has a variable in its value and is left out');
    } else if (isRegistry(key)) {
      found.addUrl(key, value, (url) => key === 'registry' && NPM_DEFAULT.test(url));
    } else if (key === 'cafile') {
      found.addCaFile('NPM_CONFIG_CAFILE', resolve(dirname(path), value));
    } else if (/(?:_authToken|_auth|_password)$/.test(key)) {
      found.note(key.replace(/^.*:/, ''), 'is a credential, which stays outside');
    }
  }
  return found;
}

function isRegistry(key: string): boolean {
  return /^(?:@[^:]+:)?registry$/.test(key);
}

function isOfInterest(key: string): boolean {
  return isRegistry(key) || key === 'cafile';
}

/** The first yarn, and the later ones, which read another file. */
export function findYarn(at: Surroundings): ClientFindings[] {
  const found = new Findings('yarn', 'yarn');
  const later = at.readText(join(at.home, '.yarnrc.yml')) ?? '';
  const server = variableOf(at, 'YARN_NPM_REGISTRY_SERVER') ?? lineOf(later, /^npmRegistryServer:\s*(\S+)\s*$/m);
  const first =
    variableOf(at, 'YARN_REGISTRY') ?? lineOf(at.readText(join(at.home, '.yarnrc')) ?? '', /^registry\s+(\S+)/m);
  if (server !== undefined) found.addUrl('npmRegistryServer', server, (url) => YARN_DEFAULT.test(url));
  if (first !== undefined) found.addUrl('registry', first, (url) => YARN_DEFAULT.test(url));
  const ca = lineOf(later, /^(?:httpsCaFilePath|caFilePath):\s*(\S+)\s*$/m);
  if (ca !== undefined) found.addCaFile('YARN_HTTPS_CA_FILE_PATH', ca);
  return [found];
}

function lineOf(text: string, pattern: RegExp): string | undefined {
  const value = pattern.exec(text)?.[1];
  return value === undefined ? undefined : unquote(value);
}
