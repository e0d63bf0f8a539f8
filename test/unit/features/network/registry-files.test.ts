import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { faultOfSetting, hostsOfSettings, type RegistrySetting } from '#src/core/registries.js';
import { registryFiles, registryVariables } from '#src/features/network/registry-files.js';

const setting = (text: string): RegistrySetting => {
  const [, client = '', key = '', value = ''] = /^(\S+) (\S+) (.*)$/.exec(text) ?? [];
  return { client, key, value };
};
const filesOf = (...texts: string[]): Record<string, string> =>
  Object.fromEntries(registryFiles(texts.map(setting)).map(({ path, text }) => [path, text]));

describe('a setting that leads to a registry', () => {
  it.each([
    'npm registry https://npm.example.com/',
    'npm @acme:registry https://npm.example.com:8443/a/b',
    'pip trusted-host pypi.example.com:8080',
    'cargo source.crates-io.replace-with mirror',
    'cargo source.mirror.registry sparse+https://crates.example.com/index/',
    'go GOPROXY https://go.example.com/a,https://two.example.com|direct',
    'go GOFLAGS -mod=mod -modcacherw',
    'maven mirror.corp.of *,!local',
    'apt source deb [signed-by=/usr/share/keyrings/a.gpg] https://deb.example.com/debian stable main',
  ])('is taken: %s', (text) => {
    expect(faultOfSetting(setting(text))).toBeNull();
  });

  it.each([
    ['npm _authToken abc', 'does not lead to a registry'],
    ['npm script-shell /tmp/evil', 'does not lead to a registry'],
    ['constructor registry https://a.example.com', 'does not lead to a registry'],
    ['npm registry https://ann:pw@npm.example.com/', 'holds a credential'],
    ['npm registry file:///etc', 'is not a URL'],
    ['npm registry https://a.example.com/\nscript-shell=/tmp/evil', 'is not a URL'],
    ['go GOPROXY https://ann:pw@go.example.com', 'holds a credential'],
    ['go GOPROXY https://go.example.com\nGOFLAGS=-toolexec=x', 'is not a URL'],
    ['cargo source.a.replace-with "x"]', 'is not a URL'],
    ['maven mirror.a.of </mirrorOf><x>', 'is not a URL'],
    ['apt source deb https://deb.example.com x;rm main', 'is not a URL'],
    [`npm registry https://a.example.com/${'x'.repeat(2000)}`, 'is longer than 2000 characters'],
  ])('is refused: %s', (text, fault) => {
    const [first = '', ...rest] = text.split(' ');
    expect(faultOfSetting({ client: first, key: rest[0] ?? '', value: rest.slice(1).join(' ') })).toBe(fault);
  });

  it('names its hosts with the groups whose permission includes them', () => {
    const settings = [
      'npm registry https://mirror.example.com:8443/npm/',
      'pip index-url https://mirror.example.com:8443/pypi/simple',
      'go GOPROXY https://go.example.com,direct',
    ];
    expect(hostsOfSettings(settings.map(setting))).toEqual([
      { host: 'mirror.example.com', pattern: 'mirror.example.com:8443', groups: ['npm', 'pypi'] },
      { host: 'go.example.com', pattern: 'go.example.com', groups: ['go'] },
    ]);
  });
});

describe('the files in which clients find registries', () => {
  it('are written in the form of each client', () => {
    const files = filesOf(
      'npm registry https://npm.example.com/',
      'npm @acme:registry https://acme.example.com/',
      'yarn registry https://yarn.example.com/',
      'yarn npmRegistryServer https://berry.example.com/',
      'pip index-url https://pypi.example.com/simple',
      'pip extra-index-url https://one.example.com/',
      'pip extra-index-url https://two.example.com/',
      'go GOPROXY https://go.example.com,direct',
    );
    expect(files).toEqual({
      '.npmrc': 'registry=https://npm.example.com/\n@acme:registry=https://acme.example.com/\n',
      '.yarnrc': 'registry "https://yarn.example.com/"\n',
      '.yarnrc.yml': 'npmRegistryServer: "https://berry.example.com/"\n',
      '.config/pip/pip.conf':
        '[global]\nindex-url = https://pypi.example.com/simple\nextra-index-url = https://one.example.com/\n    https://two.example.com/\n',
      '.config/go/env': 'GOPROXY=https://go.example.com,direct\n',
    });
  });

  it('are written as TOML for cargo and uv', () => {
    const files = filesOf(
      'cargo source.crates-io.replace-with mirror',
      'cargo source.mirror.registry sparse+https://crates.example.com/',
      'cargo registries.corp.index sparse+https://corp.example.com/',
      'cargo registry.default corp',
      'uv index.torch https://torch.example.com/',
      'uv default https://pypi.example.com/simple',
    );
    expect(parse(files['.cargo/config.toml'] ?? '')).toEqual({
      source: {
        'crates-io': { 'replace-with': 'mirror' },
        mirror: { registry: 'sparse+https://crates.example.com/' },
      },
      registries: { corp: { index: 'sparse+https://corp.example.com/' } },
      registry: { default: 'corp' },
    });
    expect(parse(files['.config/uv/uv.toml'] ?? '')).toEqual({
      index: [
        { name: 'torch', url: 'https://torch.example.com/' },
        { url: 'https://pypi.example.com/simple', default: true },
      ],
    });
  });

  it('are written as XML for Maven and as sources for apt', () => {
    const files = filesOf(
      'maven mirror.corp.url https://maven.example.com/a?b&c',
      'maven mirror.corp.of central',
      'maven repository.snap.url https://snap.example.com/',
      'apt source deb https://deb.example.com/debian stable main',
    );
    expect(files['.m2/settings.xml']).toContain(
      '<mirror><id>corp</id><mirrorOf>central</mirrorOf><url>https://maven.example.com/a?b&amp;c</url></mirror>',
    );
    expect(files['.m2/settings.xml']).toContain('<repository><id>snap</id><url>https://snap.example.com/</url>');
    expect(files['.config/apt/sources.list']).toBe('deb https://deb.example.com/debian stable main\n');
    expect(registryVariables([])).toEqual({});
    expect(registryVariables([setting('apt source deb https://deb.example.com/debian stable main')])).toEqual({
      APT_CONFIG: '/home/sandbox/.config/apt/apt.conf',
    });
  });
});
