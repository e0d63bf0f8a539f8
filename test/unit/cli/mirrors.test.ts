import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { describeHosts, describeMirrors, isSame } from '#src/cli/mirrors/describe.js';
import { findMirrors } from '#src/cli/mirrors/find.js';
import { localKind } from '#src/cli/mirrors/local-addresses.js';
import { CA_VARIABLES } from '#src/core/variable-names.js';
import { createAuthority } from '../../helpers/authority.ts';

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

/** The settings that these files and variables lead to, as `client key value`. `~` is the home, `/ROOT` what is around it. */
async function find(
  files: Record<string, string>,
  variables: Record<string, string> = {},
  more: { projectRunner?: string; project?: string; link?: readonly [from: string, to: string] } = {},
) {
  const root = mkdtempSync(join(tmpdir(), 'mirrors-'));
  roots.push(root);
  for (const [path, text] of Object.entries(files)) {
    const full = join(root, path.replace(/^~/, 'home'));
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, text);
  }
  const values = Object.entries(variables).map(([name, value]) => [
    name,
    value.replace(/^~/, join(root, 'home')).replace(/^\/ROOT/, root),
  ]);
  if (more.link !== undefined) symlinkSync(join(root, more.link[1]), join(root, more.link[0]));
  const { projectRunner = null } = more;
  const project = more.project === undefined ? null : join(root, more.project);
  const at = { root, home: join(root, 'home'), variables: Object.fromEntries(values), projectRunner, project };
  const found = await findMirrors(at, Date.now());
  const settings = found.wanted.registries.map(({ client, key, value }) => `${client} ${key} ${value}`);
  return { ...found, settings, root };
}

describe('the registries of the host', () => {
  it('are read from npmrc files and variables, the variable first, without credentials', async () => {
    const { settings, notes, wanted } = await find(
      {
        '~/.npmrc': `
registry = https://ann:hunter2@npm.example.com/repo/?token=abc
@acme:registry=https://acme.example.com:8443/npm/
//npm.example.com/:_authToken=npm_abcdef
; comment
cache=/somewhere`,
        'etc/npmrc': 'registry=https://other.example.com/\n@team:registry=https://team.example.com/',
      },
      { 'npm_config_@acme:registry': 'https://acme.example.com/from-environment/' },
    );
    expect(settings).toEqual([
      'npm @acme:registry https://acme.example.com/from-environment/',
      'npm registry https://npm.example.com/repo/',
      'npm @team:registry https://team.example.com/',
    ]);
    const said = JSON.stringify([notes, wanted]);
    expect(said).not.toMatch(/hunter2|ann|token=|npm_abcdef/);
    expect(notes).toEqual([
      expect.stringMatching(/registry has a password, which stays outside/),
      expect.stringMatching(/_authToken is a credential, which stays outside/),
    ]);
  });

  it('leave out the public defaults and values that need a variable', async () => {
    const { settings } = await find(
      { '~/.npmrc': 'registry=https://registry.npmjs.org/\n@a:registry=https://$' + '{HOST}/' },
      {
        GOPROXY: 'https://proxy.golang.org,direct',
        GOSUMDB: 'sum.golang.org',
        PIP_INDEX_URL: 'https://pypi.org/simple',
      },
    );
    expect(settings).toEqual([]);
  });

  it('are read for both yarns', async () => {
    const { settings } = await find({
      '~/.yarnrc': 'registry "https://yarn.example.com/"\n',
      '~/.yarnrc.yml': 'npmRegistryServer: "https://berry.example.com"\nnpmAuthToken: abc\n',
    });
    expect(settings).toEqual([
      'yarn npmRegistryServer https://berry.example.com/',
      'yarn registry https://yarn.example.com/',
    ]);
  });

  it('are read from pip.conf with values on several lines, and from variables', async () => {
    const { settings, notes } = await find(
      {
        '~/.config/pip/pip.conf': `[global]
index-url = https://u:p@pypi.example.com/simple
extra-index-url =
    https://one.example.com/simple
    https://two.example.com/simple
[install]
trusted-host = pypi.example.com
`,
      },
      { PIP_EXTRA_INDEX_URL: 'https://three.example.com/simple', PIP_FIND_LINKS: '/opt/wheels' },
    );
    expect(settings).toEqual([
      'pip extra-index-url https://three.example.com/simple',
      'pip trusted-host pypi.example.com',
      'pip index-url https://pypi.example.com/simple',
      'pip extra-index-url https://one.example.com/simple',
      'pip extra-index-url https://two.example.com/simple',
    ]);
    expect(notes).toContainEqual(expect.stringContaining('find-links is not a web address'));
  });

  it('are read from uv.toml and variables of uv', async () => {
    const { settings } = await find(
      { '~/.config/uv/uv.toml': '[[index]]\nname = "corp"\nurl = "https://corp.example.com/simple"\ndefault = true\n' },
      { UV_INDEX: 'torch=https://torch.example.com/whl https://plain.example.com/simple' },
    );
    expect(settings).toEqual([
      'uv index.torch https://torch.example.com/whl',
      'uv index https://plain.example.com/simple',
      'uv default https://corp.example.com/simple',
    ]);
  });

  it('are read from the configuration of cargo, without a source that leads to none', async () => {
    const { settings } = await find(
      {
        '~/.cargo/config.toml': `[source.crates-io]
replace-with = "mirror"
[source.mirror]
registry = "sparse+https://crates.example.com/index/"
[source.other]
replace-with = "vendored"
[source.vendored]
directory = "vendor"
[registries.corp]
index = "sparse+https://corp.example.com/"
token = "secret"
`,
      },
      { CARGO_REGISTRIES_TEAM_INDEX: 'https://team.example.com/index' },
    );
    expect(settings).toEqual([
      'cargo registries.team.index https://team.example.com/index',
      'cargo source.crates-io.replace-with mirror',
      'cargo source.mirror.registry sparse+https://crates.example.com/index/',
      'cargo registries.corp.index sparse+https://corp.example.com/',
    ]);
  });

  it('are read from the environment of Go and its file', async () => {
    const { settings } = await find(
      { '~/.config/go/env': 'GOPROXY=https://ignored.example.com\nGOPRIVATE=*.corp.example.com\n' },
      {
        GOPROXY: 'https://me:pw@go.example.com/proxy/,file:///srv/mod|direct',
        GOSUMDB: 'sum.golang.org https://go.example.com/sumdb',
        GOFLAGS: '-mod=mod -toolexec=/tmp/evil -modcacherw',
      },
    );
    expect(settings).toEqual([
      'go GOPROXY https://go.example.com/proxy|direct',
      'go GOSUMDB sum.golang.org https://go.example.com/sumdb',
      'go GOPRIVATE *.corp.example.com',
      'go GOFLAGS -mod=mod -modcacherw',
    ]);
  });

  it('are read from the settings of Maven: mirrors, and repositories of active profiles', async () => {
    const { settings, notes } = await find({
      '~/.m2/settings.xml': `<settings>
  <servers><server><id>corp</id><username>ann</username><password>hunter2</password></server></servers>
  <mirrors>
    <!-- <mirror><id>old</id><mirrorOf>*</mirrorOf><url>https://old.example.com</url></mirror> -->
    <mirror><id>corp</id><mirrorOf>*,!local</mirrorOf><url>https://maven.example.com/all?a=1&amp;b=2</url></mirror>
    <mirror><id>blocker</id><mirrorOf>external:http:*</mirrorOf><url>http://0.0.0.0/</url><blocked>true</blocked></mirror>
  </mirrors>
  <profiles>
    <profile><id>on</id><repositories><repository><id>snap</id><url>https://snap.example.com/</url></repository></repositories></profile>
    <profile><id>off</id><repositories><repository><id>no</id><url>https://no.example.com/</url></repository></repositories></profile>
  </profiles>
  <activeProfiles><activeProfile>on</activeProfile></activeProfiles>
</settings>`,
    });
    expect(settings).toEqual([
      'maven mirror.corp.url https://maven.example.com/all',
      'maven mirror.corp.of *,!local',
      'maven repository.snap.url https://snap.example.com/',
    ]);
    expect(JSON.stringify(notes)).not.toContain('hunter2');
  });

  it('are read from the sources of apt in both of their forms', async () => {
    const { settings } = await find({
      'etc/apt/sources.list':
        '# deb http://no.example.com x main\ndeb [arch=amd64 allow-insecure=yes] https://u:p@deb.example.com/debian stable main contrib # why\ndeb cdrom:[x]/ stable main\n',
      'etc/apt/sources.list.d/more.sources':
        'Types: deb deb-src\nURIs: https://more.example.com/debian\nSuites: stable stable-updates\nComponents: main\nSigned-By: /usr/share/keyrings/more.gpg\n\nEnabled: no\nTypes: deb\nURIs: https://off.example.com\nSuites: x\n',
    });
    expect(settings).toEqual([
      'apt source deb [arch=amd64] https://deb.example.com/debian stable main contrib',
      ...['deb', 'deb-src'].flatMap((type) =>
        ['stable', 'stable-updates'].map(
          (suite) =>
            `apt source ${type} [signed-by=/usr/share/keyrings/more.gpg] https://more.example.com/debian ${suite} main`,
        ),
      ),
    ]);
  });

  it('name the private addresses of their hosts and what a permission for a group includes', async () => {
    const { wanted } = await find({ '~/.npmrc': 'registry=http://localhost:4873/' });
    expect(wanted.private_hosts).toEqual([{ host: 'localhost', addresses: expect.arrayContaining(['127.0.0.1']) }]);
    expect(describeHosts(wanted)).toEqual(['npm: localhost:4873']);
    const addresses = wanted.private_hosts.map(({ host, addresses }) => ({ host, addresses: addresses.toReversed() }));
    expect(isSame(wanted, { ...wanted, private_hosts: addresses })).toBe(true);
    expect(isSame(wanted, { ...wanted, registries: [] })).toBe(false);
  });
});

describe('the certificates of the host', () => {
  it('are those that no system has, from every variable and file of settings that names one, once', async () => {
    const corp = await createAuthority('Corp CA');
    const { certificates, wanted } = await find(
      { '~/corp.pem': corp.pem, '~/.npmrc': 'cafile=corp.pem\n', 'etc/pip.conf': '[global]\ncert = /missing.pem\n' },
      { NODE_EXTRA_CA_CERTS: '~/corp.pem', SSL_CERT_FILE: '~/corp.pem' },
    );
    expect(certificates).toMatchObject([{ subject: 'CN=Corp CA', from: expect.stringMatching(/corp\.pem$/) }]);
    expect(wanted.certificates).toHaveLength(1);
    expect(wanted.ca_variables).toEqual(['NODE_EXTRA_CA_CERTS', 'NPM_CONFIG_CAFILE', 'SSL_CERT_FILE']);
  });

  it('are not taken if the system has them, if they have expired, or if a private key is beside them', async () => {
    const [system, expired, keyed] = await Promise.all([
      createAuthority('System CA'),
      createAuthority('Old CA', -3_600_000),
      createAuthority('Keyed CA'),
    ]);
    const { certificates, notes, wanted } = await find(
      {
        'etc/ssl/certs/ca-certificates.crt': system.pem,
        '~/all.pem': `${system.pem}\n${expired.pem}`,
        '~/keyed.pem': `${keyed.pem}\n${keyed.keyPem}`,
      },
      { SSL_CERT_FILE: '~/all.pem', REQUESTS_CA_BUNDLE: '~/keyed.pem' },
    );
    expect(certificates).toEqual([]);
    expect(notes).toEqual([expect.stringContaining('holds a private key and is left out')]);
    expect(JSON.stringify(wanted)).not.toContain('PRIVATE KEY');
  });

  it('are shown with what else is handed in', async () => {
    const corp = await createAuthority('Corp CA');
    const found = await find(
      { '~/corp.pem': corp.pem, '~/.npmrc': 'registry=https://npm.example.com/\n' },
      { SSL_CERT_FILE: '~/corp.pem' },
    );
    expect(describeMirrors(found)).toEqual([
      '  npm: registry = https://npm.example.com/',
      expect.stringMatching(/^ {2}trusted certificate: CN=Corp CA \(.*corp\.pem\)$/),
      '  for clients that find certificates by a variable, set for commands: SSL_CERT_FILE',
    ]);
  });
});

describe('what a repository decides', () => {
  const EVIL = 'http://evil.example.com/';
  /** Each variable that names a file or directory of settings, the file in it, and settings that lead to a registry. */
  const FILES: readonly [variable: string, file: string, text: string][] = [
    ['npm_config_userconfig', '.npmrc', `registry=${EVIL}`],
    ['NPM_CONFIG_GLOBALCONFIG', 'npmrc', `registry=${EVIL}`],
    ['PIP_CONFIG_FILE', 'pip.conf', `[global]\nindex-url=${EVIL}`],
    ['UV_CONFIG_FILE', 'uv.toml', `index-url = "${EVIL}"`],
    ['CARGO_HOME', 'config.toml', `[registries.a]\nindex = "${EVIL}"`],
    ['GOENV', 'env', `GOPROXY=${EVIL}`],
    ['MAVEN_HOME', 'conf/settings.xml', `<mirror><id>a</id><url>${EVIL}</url></mirror>`],
    ['M2_HOME', 'conf/settings.xml', `<mirror><id>a</id><url>${EVIL}</url></mirror>`],
    ['XDG_CONFIG_HOME', 'pip/pip.conf', `[global]\nindex-url=${EVIL}`],
  ];
  const isDirectory = (variable: string): boolean => /HOME$/.test(variable);

  it.each(FILES)('is nothing that %s leads to', async (variable, file, text) => {
    const [inProject, outside] = [`repo/sub/${file}`, `elsewhere/${file}`];
    const named = (path: string) => (isDirectory(variable) ? path.slice(0, -file.length - 1) : path);
    const own = await find({ [outside]: text }, { [variable]: `/ROOT/${named(outside)}` }, { project: 'repo' });
    expect(own.settings.join()).toContain('evil.example.com');
    expect(own.foreign).toEqual([]);
    for (const value of [
      `/ROOT/${named(inProject)}`,
      `/ROOT/link/sub/${file}`.replace(isDirectory(variable) ? `/${file}` : '\0', ''),
    ]) {
      const found = await find(
        { [inProject]: text },
        { [variable]: value },
        { project: 'repo', link: ['link', 'repo'] },
      );
      expect(found.settings).toEqual([]);
      expect(found.foreign).toEqual([expect.stringContaining('it lies in the project')]);
    }
    const relative = await find({ [inProject]: text }, { [variable]: named(file) || '.' }, { project: 'repo' });
    expect(relative.settings).toEqual([]);
    expect(relative.foreign).toEqual([expect.stringContaining(`${variable} is not an absolute path`)]);
  });

  it('refuses a variable that names a missing file of the project by a way around', async () => {
    const value = '/ROOT/elsewhere/../repo/ca.pem';
    const found = await find({}, { NODE_EXTRA_CA_CERTS: value }, { project: 'repo' });
    expect(found.foreign).toEqual([expect.stringContaining('it lies in the project')]);
  });

  it.each(CA_VARIABLES)('is no certificate that %s leads to', async (variable) => {
    const { pem } = await createAuthority('Evil CA');
    const inProject = await find({ 'repo/ca.pem': pem }, { [variable]: '/ROOT/repo/ca.pem' }, { project: 'repo' });
    expect(inProject.wanted).toMatchObject({ certificates: [], ca_variables: [] });
    const outside = await find({ 'ca.pem': pem }, { [variable]: '/ROOT/ca.pem' }, { project: 'repo' });
    expect(outside.wanted.certificates).toHaveLength(1);
  });

  it('is no certificate in a directory of the project, or that a file of the person names there', async () => {
    const { pem } = await createAuthority('Evil CA');
    const files = { 'repo/ca.pem': pem, '~/.npmrc': 'cafile=../repo/ca.pem' };
    const found = await find(files, { SSL_CERT_DIR: '/ROOT/repo' }, { project: 'repo' });
    expect(found.wanted).toMatchObject({ certificates: [], ca_variables: [] });
  });

  it('is no variable if a program that reads the settings of projects started ctxd', async () => {
    const variables = { npm_config_registry: EVIL, PIP_INDEX_URL: EVIL, GOPROXY: EVIL, YARN_REGISTRY: EVIL };
    const own = { '~/.npmrc': 'registry=https://npm.example.com/' };
    expect((await find(own, variables)).settings).toHaveLength(4);
    const found = await find(own, variables, { projectRunner: 'npm' });
    expect(found.settings).toEqual(['npm registry https://npm.example.com/']);
    expect(found.foreign).toEqual([expect.stringContaining('npm started ctxd')]);
    const usual = await find(own, { npm_config_userconfig: '/ROOT/home/.npmrc' }, { projectRunner: 'npm' });
    expect(usual.foreign).toEqual([]);
  });
});

describe('an address of this machine or around it', () => {
  it('differs from one of a private network, in every spelling', () => {
    const own = new Set(['10.9.9.9', '203.0.113.9', 'fd12::9']);
    const local = [
      '127.0.0.1',
      '127.8.8.8',
      '0.0.0.0',
      '169.254.169.254',
      '169.254.1.1',
      '168.63.129.16',
      '192.0.0.192',
    ];
    local.push('100.100.100.200', '::1', '::', '0:0:0:0:0:0:0:1', '::ffff:127.0.0.1', '::ffff:10.0.0.1', 'fe80::1');
    local.push(
      'fe80::1%eth0',
      'fd00:ec2::254',
      'fd00:0ec2:0::254',
      '64:ff9b::7f00:1',
      '10.9.9.9',
      '203.0.113.9',
      'fd12:0::9',
    );
    for (const address of local) expect([address, localKind(address, own)]).toEqual([address, expect.any(String)]);
    for (const address of [
      '10.0.0.1',
      '172.16.3.4',
      '192.168.1.1',
      '100.64.0.1',
      'fd00::1',
      '203.0.113.8',
      '2001:db8::1',
    ])
      expect([address, localKind(address, own)]).toEqual([address, null]);
  });
});
