import { join } from 'node:path';
import { parse } from 'smol-toml';
import { isJsonObject } from '../../core/json.ts';
import { type ClientFindings, configHome, Findings, parseIni, type Surroundings, variableOf } from './surroundings.ts';

const PYPI = /^https:\/\/pypi\.org\/simple\/?$/;

/** The keys of pip that lead to packages. */
const PIP_KEYS = ['index-url', 'extra-index-url', 'find-links', 'trusted-host'];

export function findPip(at: Surroundings): ClientFindings[] {
  const files = [
    ...[at.variables.PIP_CONFIG_FILE ?? []].flat(),
    join(at.home, '.pip/pip.conf'),
    join(configHome(at), 'pip/pip.conf'),
    join(at.root, 'etc/xdg/pip/pip.conf'),
    join(at.root, 'etc/pip.conf'),
  ];
  const variables = new Findings('pip', 'the environment');
  for (const key of PIP_KEYS) {
    const value = variableOf(at, `PIP_${key.replaceAll('-', '_')}`);
    if (value !== undefined) addPip(variables, key, value.split(/\s+/));
  }
  return [variables, ...files.flatMap((path) => readPipFile(at, path))];
}

function readPipFile(at: Surroundings, path: string): ClientFindings[] {
  const text = at.readText(path);
  if (text === null) return [];
  const sections = parseIni(text);
  const found = new Findings('pip', path);
  for (const name of ['install', 'download', 'global']) {
    for (const [key, values] of sections.get(name) ?? []) {
      if (key === 'cert') found.addCaFile('PIP_CERT', values.at(-1) ?? '');
      else
        addPip(
          found,
          key,
          values.flatMap((value) => value.split(/\s+/)),
        );
    }
  }
  return [found];
}

function addPip(found: Findings, key: string, values: readonly string[]): void {
  if (!PIP_KEYS.includes(key)) return;
  for (const value of values.filter((one) => one !== '')) {
    if (key === 'trusted-host') found.addWords(key, value);
    else found.addUrl(key, value, (url) => PYPI.test(url));
  }
}

export function findUv(at: Surroundings): ClientFindings[] {
  const variables = new Findings('uv', 'the environment');
  const index = at.variables.UV_DEFAULT_INDEX ?? at.variables.UV_INDEX_URL;
  if (index !== undefined) addIndex(variables, { url: index, default: true });
  for (const one of `${at.variables.UV_INDEX ?? ''} ${at.variables.UV_EXTRA_INDEX_URL ?? ''}`.split(/\s+/)) {
    const [, name, url] = /^(?:([\w-]+)=)?(.+)$/.exec(one) ?? [];
    if (url !== undefined) addIndex(variables, { url, name });
  }
  const places = at.variables.UV_CONFIG_FILE ?? join(configHome(at), 'uv/uv.toml');
  return [variables, ...[places, join(at.root, 'etc/uv/uv.toml')].flatMap((path) => readUvFile(at, path))];
}

function readUvFile(at: Surroundings, path: string): ClientFindings[] {
  const text = at.readText(path);
  if (text === null) return [];
  const found = new Findings('uv', path);
  const settings = parseToml(text, found);
  const pip = isJsonObject(settings.pip) ? settings.pip : {};
  for (const one of listOf(settings.index)) if (isJsonObject(one)) addIndex(found, one);
  for (const one of [settings, pip]) {
    if (typeof one['index-url'] === 'string') addIndex(found, { url: one['index-url'], default: true });
    for (const url of listOf(one['extra-index-url'])) addIndex(found, { url });
    for (const url of listOf(one['find-links'])) if (typeof url === 'string') found.addUrl('find-links', url);
  }
  return [found];
}

function addIndex(found: Findings, index: Readonly<Record<string, unknown>>): void {
  const { url, name } = index;
  if (typeof url !== 'string') return;
  const isNamed = typeof name === 'string' && /^[\w-]{1,64}$/.test(name);
  const key = index.default === true ? 'default' : isNamed ? `index.${name}` : 'index';
  found.addUrl(key, url, (one) => PYPI.test(one));
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** An empty table if the file is damaged. */
export function parseToml(text: string, found: Findings): Readonly<Record<string, unknown>> {
  try {
    return parse(text);
  } catch {
    found.note('the file', 'is not TOML');
    return {};
  }
}
