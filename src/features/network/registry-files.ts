import { stringify } from 'smol-toml';
import type { RegistrySetting } from '../../core/registries.ts';
import { SANDBOX_HOME } from '../../sandbox/contract/places.ts';
import type { HomeFile } from '../../sandbox/contract/policy.ts';

type Settings = readonly RegistrySetting[];

/** The files in which clients look for registries, made from settings that have been checked. */
export function registryFiles(settings: Settings): HomeFile[] {
  return Object.entries(WRITERS).flatMap(([client, write]) => {
    const own = settings.filter((setting) => setting.client === client);
    return own.length === 0 ? [] : write(own);
  });
}

const APT_DIR = '.config/apt';

/** Variables without which a client would not find its file. */
export function registryVariables(settings: Settings): Record<string, string> {
  const hasApt = settings.some(({ client }) => client === 'apt');
  return hasApt ? { APT_CONFIG: `${SANDBOX_HOME}/${APT_DIR}/apt.conf` } : {};
}

const WRITERS: Readonly<Record<string, (own: Settings) => HomeFile[]>> = {
  npm: (own) => [{ path: '.npmrc', text: linesOf(own, ({ key, value }) => `${key}=${value}`) }],
  yarn: (own) => [
    ...fileOf('.yarnrc', own, 'registry', (value) => `registry ${JSON.stringify(value)}`),
    ...fileOf('.yarnrc.yml', own, 'npmRegistryServer', (value) => `npmRegistryServer: ${JSON.stringify(value)}`),
  ],
  pip: (own) => [{ path: '.config/pip/pip.conf', text: `[global]\n${pipLines(own)}` }],
  uv: (own) => [{ path: '.config/uv/uv.toml', text: stringify(uvSettings(own)) }],
  cargo: (own) => [{ path: '.cargo/config.toml', text: stringify(cargoSettings(own)) }],
  go: (own) => [{ path: '.config/go/env', text: linesOf(own, ({ key, value }) => `${key}=${value}`) }],
  maven: (own) => [{ path: '.m2/settings.xml', text: mavenSettings(own) }],
  apt: (own) => [
    { path: `${APT_DIR}/sources.list`, text: linesOf(own, ({ value }) => value) },
    { path: `${APT_DIR}/apt.conf`, text: APT_CONF },
  ],
};

/**
 * Packages can be fetched and unpacked; only root could install them. apt creates directories below a directory that is
 * there, which ~/.cache is.
 */
const APT_CONF = `Dir::Etc::sourcelist "${SANDBOX_HOME}/${APT_DIR}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State "${SANDBOX_HOME}/.cache";
Dir::State::lists "apt/lists/";
Dir::State::extended_states "apt/extended_states";
Dir::State::status "/var/lib/dpkg/status";
Dir::Cache "${SANDBOX_HOME}/.cache";
Dir::Cache::archives "apt/archives/";
Dir::Cache::pkgcache "apt/pkgcache.bin";
Dir::Cache::srcpkgcache "apt/srcpkgcache.bin";
Dir::Log "${SANDBOX_HOME}/.cache/apt/log";
Debug::NoLocking "true";
APT::Update::Post-Invoke "";
APT::Update::Post-Invoke-Success "";
`;

function linesOf(own: Settings, line: (setting: RegistrySetting) => string): string {
  return own.map((setting) => `${line(setting)}\n`).join('');
}

function fileOf(path: string, own: Settings, key: string, line: (value: string) => string): HomeFile[] {
  const setting = own.find((one) => one.key === key);
  return setting === undefined ? [] : [{ path, text: `${line(setting.value)}\n` }];
}

/** pip takes several values of a key on lines of their own, but reads a line break into a single value. */
function pipLines(own: Settings): string {
  const keys = [...new Set(own.map(({ key }) => key))];
  return keys.map((key) => `${key} = ${valuesOf(own, key).join('\n    ')}\n`).join('');
}

function uvSettings(own: Settings): Record<string, unknown> {
  const index = own
    .filter(({ key }) => key !== 'find-links')
    .map(({ key, value }) => {
      if (key === 'default') return { url: value, default: true };
      const name = key.slice('index.'.length);
      return name === '' ? { url: value } : { name, url: value };
    });
  const links = valuesOf(own, 'find-links');
  return { ...(index.length > 0 ? { index } : {}), ...(links.length > 0 ? { 'find-links': links } : {}) };
}

/** `source.x.registry` is a key in the table `x` of the table `source`. */
function cargoSettings(own: Settings): Record<string, Record<string, unknown>> {
  const tables: Record<string, Record<string, unknown>> = {};
  for (const { key, value } of own) {
    const [top = '', ...rest] = key.split('.');
    tables[top] ??= {};
    const [name = '', last] = rest;
    if (last === undefined) tables[top][name] = value;
    else tables[top][name] = { ...Object(tables[top][name]), [last]: value };
  }
  return tables;
}

function mavenSettings(own: Settings): string {
  const of = (prefix: string): [id: string, url: string][] =>
    own.flatMap(({ key, value }) => {
      const [, id] = new RegExp(`^${prefix}\\.(.+)\\.url$`).exec(key) ?? [];
      return id === undefined ? [] : [[id, value]];
    });
  const mirrors = of('mirror').map(([id, url]) => {
    const [which = '*'] = valuesOf(own, `mirror.${id}.of`);
    return `    <mirror><id>${id}</id><mirrorOf>${which}</mirrorOf><url>${xml(url)}</url></mirror>\n`;
  });
  const repositories = of('repository').map(([id, url]) => `<id>${id}</id><url>${xml(url)}</url>`);
  const listed = (name: string): string => repositories.map((one) => `        <${name}>${one}</${name}>\n`).join('');
  const profile = `  <profiles>
    <profile>
      <id>contextd</id>
      <repositories>
${listed('repository')}      </repositories>
      <pluginRepositories>
${listed('pluginRepository')}      </pluginRepositories>
    </profile>
  </profiles>
  <activeProfiles><activeProfile>contextd</activeProfile></activeProfiles>
`;
  return `<settings>
${mirrors.length === 0 ? '' : `  <mirrors>\n${mirrors.join('')}  </mirrors>\n`}${repositories.length === 0 ? '' : profile}</settings>
`;
}

function valuesOf(own: Settings, key: string): string[] {
  return own.flatMap((setting) => (setting.key === key ? [setting.value] : []));
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
