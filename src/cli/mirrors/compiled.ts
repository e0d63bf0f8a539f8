import { join } from 'node:path';
import { isJsonObject } from '../../core/json.ts';
import { parseToml } from './python.ts';
import { type ClientFindings, configHome, Findings, parseIni, type Surroundings } from './surroundings.ts';

export function findCargo(at: Surroundings): ClientFindings[] {
  const own = at.variables.CARGO_HOME ?? join(at.home, '.cargo');
  const variables = new Findings('cargo', 'the environment');
  for (const [name, value] of Object.entries(at.variables)) {
    const [, registry] = /^CARGO_REGISTRIES_(\w+)_INDEX$/.exec(name) ?? [];
    if (registry !== undefined)
      variables.addUrl(`registries.${registry.toLowerCase().replaceAll('_', '-')}.index`, value);
  }
  const files = ['config.toml', 'config'].flatMap((name) => {
    const text = at.readText(join(own, name));
    return text === null ? [] : [readCargo(join(own, name), text)];
  });
  return [variables, ...files.slice(0, 1)];
}

function readCargo(path: string, text: string): ClientFindings {
  const found = new Findings('cargo', path);
  const { source, registries, registry, http } = parseToml(text, found);
  for (const [name, one] of tablesOf(source)) {
    if (typeof one.registry === 'string') found.addUrl(`source.${name}.registry`, one.registry);
    if (typeof one['replace-with'] === 'string') found.addWords(`source.${name}.replace-with`, one['replace-with']);
    if (['directory', 'local-registry', 'git'].some((key) => key in one))
      found.note(`source.${name}`, 'is not a registry');
  }
  for (const [name, one] of tablesOf(registries)) {
    if (typeof one.index === 'string') found.addUrl(`registries.${name}.index`, one.index);
  }
  if (isJsonObject(registry) && typeof registry.default === 'string')
    found.addWords('registry.default', registry.default);
  if (isJsonObject(http) && typeof http.cainfo === 'string') found.addCaFile('CARGO_HTTP_CAINFO', http.cainfo);
  return withoutDangling(found);
}

/** A source that leads to one that is left out would make cargo fail. */
function withoutDangling({ settings, caFiles, notes }: ClientFindings): ClientFindings {
  const has = (name: string): boolean =>
    settings.some(({ key }) => key === `source.${name}.registry` || key === `registries.${name}.index`);
  const leads = ({ key }: { key: string }): boolean => key.endsWith('.replace-with') || key === 'registry.default';
  return { settings: settings.filter((one) => !leads(one) || has(one.value)), caFiles, notes };
}

function tablesOf(value: unknown): [name: string, table: Readonly<Record<string, unknown>>][] {
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([name, one]) => (isJsonObject(one) ? [[name, one]] : []));
}

const GO_DEFAULTS: Readonly<Record<string, string>> = {
  GOPROXY: 'https://proxy.golang.org,direct',
  GOSUMDB: 'sum.golang.org',
};
const GO_LISTS = ['GONOSUMDB', 'GONOPROXY', 'GOPRIVATE', 'GOINSECURE'];
/** Flags that change how modules are found and stored, and what a build records. None names a program. */
const GO_FLAGS = /^-(?:mod=(?:mod|readonly|vendor)|modcacherw|insecure|buildvcs=(?:auto|true|false)|trimpath)$/;

export function findGo(at: Surroundings): ClientFindings[] {
  const file = at.variables.GOENV ?? join(configHome(at), 'go/env');
  const stored = parseIni(at.readText(file) ?? '').get('') ?? new Map<string, string[]>();
  const settingOf = (name: string): string => at.variables[name] ?? stored.get(name)?.at(-1) ?? '';
  const found = new Findings('go', 'go');
  for (const name of ['GOPROXY', 'GOSUMDB']) {
    const value = cleanGoList(found, name, settingOf(name));
    if (value !== '' && value !== GO_DEFAULTS[name]) found.addWords(name, value);
  }
  for (const name of GO_LISTS) if (settingOf(name) !== '') found.addWords(name, settingOf(name));
  const flags = settingOf('GOFLAGS')
    .split(/\s+/)
    .filter((flag) => GO_FLAGS.test(flag));
  if (flags.length > 0) found.addWords('GOFLAGS', flags.join(' '));
  return [found];
}

/** Parts are separated by `,` and `|`, or by spaces in GOSUMDB. A part of the host's file system is left out. */
function cleanGoList(found: Findings, name: string, value: string): string {
  const parts = value.split(/([,| ])/);
  return parts
    .map((part) => (part.includes('://') ? (found.clean(name, part)?.replace(/\/$/, '') ?? '') : part))
    .join('')
    .replaceAll(/[,| ](?=[,| ]|$)|^[,| ]+/g, '');
}
