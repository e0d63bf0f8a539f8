import { join } from 'node:path';
import { type ClientFindings, Findings, filesIn, type Surroundings } from './surroundings.ts';

export function findMaven(at: Surroundings): ClientFindings[] {
  const homes = [at.variables.MAVEN_HOME, at.variables.M2_HOME].flatMap((home) => home ?? []);
  const places = [
    join(at.home, '.m2/settings.xml'),
    ...homes.map((home) => join(home, 'conf/settings.xml')),
    join(at.root, 'etc/maven/settings.xml'),
  ];
  return [...new Set(places)].flatMap((path) => {
    const text = at.readText(path);
    return text === null ? [] : [readMaven(path, text)];
  });
}

function readMaven(path: string, text: string): ClientFindings {
  const found = new Findings('maven', path);
  const settings = text.replaceAll(/<!--.*?-->/gs, '');
  for (const mirror of elements(settings, 'mirror')) {
    const [id, of] = [element(mirror, 'id'), element(mirror, 'mirrorOf')];
    if (element(mirror, 'blocked') === 'true' || !isName(id)) continue;
    const before = found.settings.length;
    found.addUrl(`mirror.${id}.url`, element(mirror, 'url'));
    if (found.settings.length > before && of !== '') found.addWords(`mirror.${id}.of`, of);
  }
  const active = elements(settings, 'activeProfile').map((one) => one.trim());
  for (const profile of elements(settings, 'profile')) {
    const isActive = active.includes(element(profile, 'id')) || element(profile, 'activeByDefault') === 'true';
    for (const one of isActive ? [...elements(profile, 'repository'), ...elements(profile, 'pluginRepository')] : []) {
      const id = element(one, 'id');
      const isKnown = found.settings.some(({ key }) => key === `repository.${id}.url`);
      if (isName(id) && !isKnown) found.addUrl(`repository.${id}.url`, element(one, 'url'));
    }
  }
  if (/<password>/.test(settings)) found.note('<servers>', 'holds passwords, which stay outside');
  return found;
}

function elements(text: string, name: string): string[] {
  return [...text.matchAll(new RegExp(`<${name}>(.*?)</${name}>`, 'gs'))].map(([, content = '']) => content);
}

function element(text: string, name: string): string {
  const [content = ''] = elements(text, name);
  return content.trim().replaceAll('&amp;', '&');
}

function isName(id: string): boolean {
  return /^[\w.-]{1,64}$/.test(id);
}

/** What apt fetches packages from. A source whose key is written in the file itself is trusted by apt's other keys. */
export function findApt(at: Surroundings): ClientFindings[] {
  const etc = join(at.root, 'etc/apt');
  return [join(etc, 'sources.list'), ...filesIn(join(etc, 'sources.list.d'))].flatMap((path) => {
    const text = at.readText(path);
    if (text === null || !/\.(?:list|sources)$/.test(path)) return [];
    const found = new Findings('apt', path);
    const entries = path.endsWith('.list') ? fromLines(text) : fromStanzas(text);
    for (const entry of entries) addSource(found, entry);
    return [found];
  });
}

interface Source {
  readonly type: string;
  /** Such as `signed-by=/usr/share/keyrings/example.gpg`. */
  readonly options: readonly string[];
  readonly uri: string;
  /** The suite and the components. */
  readonly rest: string;
}

function addSource(found: Findings, { type, options, uri, rest }: Source): void {
  const clean = found.clean('a source', uri);
  if (clean === null) return;
  const kept = options.filter((one) =>
    /^(?:signed-by=\/|arch=|trusted=|by-hash=|check-valid-until=)[\w/.,+-]*$/i.test(one),
  );
  found.addWords('source', `${type} ${kept.length === 0 ? '' : `[${kept.join(' ')}] `}${clean} ${rest}`.trim());
}

function fromLines(text: string): Source[] {
  return text.split('\n').flatMap((line) => {
    const [, type, options = '', uri, rest = ''] =
      /^\s*(deb|deb-src)\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+([^#]+)/.exec(line) ?? [];
    if (type === undefined || uri === undefined) return [];
    return [{ type, options: options.split(/\s+/), uri, rest: rest.trim().split(/\s+/).join(' ') }];
  });
}

function fromStanzas(text: string): Source[] {
  return text.split(/\n\s*\n/).flatMap((stanza) => {
    const fields = new Map<string, string>();
    for (const [, name = '', value = ''] of stanza
      .replaceAll(/^#.*\n?/gm, '')
      .matchAll(/^([\w-]+):[ \t]*(.*(?:\n[ \t]+.*)*)/gm))
      fields.set(name.toLowerCase(), value.replaceAll(/\s+/g, ' ').trim());
    if (fields.get('enabled') === 'no') return [];
    const words = (name: string): string[] => fields.get(name)?.split(' ') ?? [];
    const named = { arch: 'architectures', 'signed-by': 'signed-by', trusted: 'trusted' };
    const options = Object.entries(named).flatMap(([option, field]) =>
      words(field).length === 0 ? [] : [`${option}=${words(field).join(',')}`],
    );
    const rest = words('components').join(' ');
    return words('types').flatMap((type) =>
      words('uris').flatMap((uri) =>
        words('suites').map((suite) => ({ type, options, uri, rest: `${suite} ${rest}`.trim() })),
      ),
    );
  });
}
